"""Tests of ``ingest/registry``."""
