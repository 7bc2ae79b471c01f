"""What the commands share: options, consoles, progress, shell completion, and how things are printed."""
