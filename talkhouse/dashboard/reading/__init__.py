"""The parts of the page *Read*."""
