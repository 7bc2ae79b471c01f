"""``corpus.toml``: what it may say, read strictly; a mistake is named with its line."""
