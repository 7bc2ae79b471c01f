"""Overlap: which texts stand in two places, word for word or nearly, with both places of every claim."""
