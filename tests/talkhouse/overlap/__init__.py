"""Overlap: what is found, counted by hand and by a plain computation of all pairs."""
