"""What each example scores, and the metrics over the examples or over slices of them."""
