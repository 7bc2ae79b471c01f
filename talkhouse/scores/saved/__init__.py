"""Runs that were saved beside the warehouse, and how two of them differ."""
