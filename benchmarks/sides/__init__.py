"""Programs that are sides of ours: each runs in a process of its own, and prints what its part took."""
