# /// script
# requires-python = ">=3.11"
# dependencies = ["pandas==3.1.1"]
# ///
"""Reads a JSON object of records with pandas, and its lists of records into a second frame.

pandas_read.py FILE LIST
"""

import sys

import pandas as pd

path, column = sys.argv[1:]
records = pd.read_json(path, orient="index")
items = pd.json_normalize(records[column].explode())
