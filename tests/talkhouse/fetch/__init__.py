"""Fetching, from a server on this machine that does what servers do."""
