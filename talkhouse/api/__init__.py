"""Talkhouse in Python: what ``import talkhouse`` offers, each method the body of a command that exists."""
