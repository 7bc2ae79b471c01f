"""Notes: labels and words of the user's own on turns and dialogues, next to the corpora and never in them."""
