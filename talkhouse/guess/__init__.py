"""Guesses from the beginning of files what a ``corpus.toml`` should say; loading never guesses."""
