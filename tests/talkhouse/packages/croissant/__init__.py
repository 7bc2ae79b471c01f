"""Packages for Croissant."""
