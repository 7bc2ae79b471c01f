"""Corpora that a page of TOML declares: what is read, what is wrong, and what comes back."""
