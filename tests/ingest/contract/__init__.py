"""What every corpus must keep to, and what is said where one does not."""
