"""MPChat."""
