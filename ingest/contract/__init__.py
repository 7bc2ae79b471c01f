"""What every corpus must keep to: its declaration, what its reader yields, and how its own code may fail."""
