"""Tests of what loads a corpus."""
