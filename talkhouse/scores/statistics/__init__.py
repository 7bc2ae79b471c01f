"""Resamples of what was scored, and the intervals of metrics."""
