"""What ``import talkhouse`` has."""
