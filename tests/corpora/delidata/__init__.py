"""DeliData."""
