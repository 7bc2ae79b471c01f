"""The operating system: files and locks, signals, processes, memory."""
