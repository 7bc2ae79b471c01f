"""Tests of ``talkhouse/testing``."""
