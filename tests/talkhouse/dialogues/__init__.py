"""Tests of ``talkhouse/dialogues``."""
