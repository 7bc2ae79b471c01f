"""Packages of a warehouse's rows for other programs."""
