"""Tests of ``talkhouse/scaffold``."""
