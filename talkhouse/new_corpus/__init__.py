"""A corpus to begin with: whole ones of invented data, written under another name."""
