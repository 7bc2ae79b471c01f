"""The profile of a corpus: what may be wrong with its dialogues, with counts and examples."""
