"""A corpus as ConvoKit has them on disk, written directly: utterances, speakers, conversations, and their metadata."""
