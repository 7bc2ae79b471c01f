"""Imported first in processes of tests: DuckDB draws progress on standard output where the main module is no file."""

import sys

sys.modules["__main__"].__file__ = __file__
