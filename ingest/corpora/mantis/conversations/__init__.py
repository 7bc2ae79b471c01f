"""The plain and the intent file of a split: one JSON object each, with a dialogue under every key."""
