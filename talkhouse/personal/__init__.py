"""Personal data in texts: where it stands, and what takes its place."""
