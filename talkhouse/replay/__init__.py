"""Reads the quarantine again after a reader or a rule has changed."""
