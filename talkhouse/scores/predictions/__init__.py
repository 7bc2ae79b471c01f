"""Predictions: files that a user names are read, checked, and matched with the examples."""
