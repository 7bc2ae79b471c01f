# /// script
# requires-python = ">=3.11"
# dependencies = ["orjson==3.13.0"]
# ///
"""Parses a JSON file with orjson.

orjson_loads.py FILE
"""

import sys
from pathlib import Path

import orjson

orjson.loads(Path(sys.argv[1]).read_bytes())
