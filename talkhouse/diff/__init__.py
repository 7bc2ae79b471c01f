"""Differences between two states of a warehouse, row by row, and their meaning for each task."""
