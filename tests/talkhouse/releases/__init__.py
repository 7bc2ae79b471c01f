"""Tests of talkhouse.releases."""
