"""Citations, in every format that programs read."""
