"""What files look like, and the declaration that is written of them."""
