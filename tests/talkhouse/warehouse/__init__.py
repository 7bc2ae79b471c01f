"""What commands ask of a warehouse."""
