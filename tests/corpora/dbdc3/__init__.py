"""DBDC3."""
