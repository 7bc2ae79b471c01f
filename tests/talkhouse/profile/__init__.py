"""The profile of a corpus."""
