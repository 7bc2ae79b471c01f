"""From tables back to records, for the writers of corpora."""
