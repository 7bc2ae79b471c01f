"""Which corpora are known: those of Talkhouse, of installed packages and of named folders; how each is imported."""
