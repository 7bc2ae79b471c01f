"""Tests of what differs between two states."""
