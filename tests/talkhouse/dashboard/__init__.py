"""The pages of ``talkhouse dashboard``."""
