"""What each corpus has of its own: golden and broken files, worked examples, real counts."""
