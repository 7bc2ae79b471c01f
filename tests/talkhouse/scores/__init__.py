"""Scores: the publishers' metrics of predictions."""
