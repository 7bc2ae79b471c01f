"""Writes the response-ranking files: each context with its response and the negatives that are drawn for it."""
