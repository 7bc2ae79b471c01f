"""Fetches a corpus's files from its publisher: resumed where cut, checked, and placed only when whole."""
