"""Corpora that a page of TOML declares, ``corpus.toml``: no code of theirs is run."""
