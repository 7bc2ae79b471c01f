"""Blended Skill Talk."""
