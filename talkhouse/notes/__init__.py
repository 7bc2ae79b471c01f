"""Notes: labels and words of the user's own on turns and dialogues, beside the corpora and never in them."""
