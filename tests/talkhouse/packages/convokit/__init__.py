"""Packages for ConvoKit."""
