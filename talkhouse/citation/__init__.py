"""How a corpus is cited: as BibTeX, CSL JSON, a text, and in a CITATION.cff."""
