"""Releases: named states of a warehouse that never change, made, verified, checked out, pruned and deposited."""
