"""Tests of the files of a corpus."""
