"""Search: turns that contain a text, texts ranked by their words, and turns by what they mean."""
