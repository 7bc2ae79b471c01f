"""Personal data in texts."""
