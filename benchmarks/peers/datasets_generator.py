# /// script
# requires-python = ">=3.11"
# dependencies = ["datasets==5.2.0"]
# ///
"""Makes a Hugging Face dataset of the records of a JSON object, which keeps it as Arrow in a cache.

datasets_generator.py FILE CACHE

``load_dataset("json")`` would take the object for one row with a column for each record.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from datasets import Dataset

path, cache = map(Path, sys.argv[1:])


def records() -> Iterator[dict[str, Any]]:
    """Yield the records with their keys."""
    with path.open("rb") as stream:
        for key, record in json.load(stream).items():
            yield {"key": key} | record


Dataset.from_generator(records, cache_dir=str(cache))
