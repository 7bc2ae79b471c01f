"""Citations as BibTeX, CSL JSON, a text, and CITATION.cff: each the same bytes for the same citations."""

from collections.abc import Sequence

from talkhouse.citation.work import Citation


def bibtex(citations: Sequence[Citation]) -> str:
    """Return BibTeX entries, one for each publication; the key is the corpus's id."""
    raise NotImplementedError


def csl(citations: Sequence[Citation]) -> str:
    """Return a list of CSL JSON items, as reference managers and Pandoc read it."""
    raise NotImplementedError


def text(citations: Sequence[Citation]) -> str:
    """Return a line for each publication, as a list of references has it."""
    raise NotImplementedError


def cff(title: str, citations: Sequence[Citation]) -> str:
    """Return a CITATION.cff, 1.2.0, of the type dataset, with the publications as its references."""
    raise NotImplementedError
