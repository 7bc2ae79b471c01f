"""Packages for other programs."""
