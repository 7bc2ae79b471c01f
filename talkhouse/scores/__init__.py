"""Scores: predictions in, each task's own published metrics out; the metrics themselves are SQL of the catalogue."""
