"""Tests of ``talkhouse/new_corpus``."""
