# /// script
# requires-python = ">=3.11"
# dependencies = ["polars==2.1.0"]
# ///
"""Reads a JSON file with Polars.

polars_read.py FILE
"""

import sys

import polars

polars.read_json(sys.argv[1])
