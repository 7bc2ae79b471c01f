"""Tests of ``talkhouse.ingest.known``."""
