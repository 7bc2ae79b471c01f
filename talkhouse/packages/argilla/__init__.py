"""Records that Argilla reads: a dialogue each, as a chat."""
