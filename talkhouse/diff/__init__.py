"""What differs between two states of a warehouse, row by row, and what that means for each task."""
