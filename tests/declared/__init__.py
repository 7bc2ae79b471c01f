"""Tests of ``ingest/declared``."""
