"""Formats in which a record holds a dialogue: chat, sharegpt, pairs, preference, transcript, tree, dialogue."""
