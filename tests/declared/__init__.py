"""Corpora that corpus.toml declares."""
