"""What the page *Read* is made of."""
