"""How a corpus is cited: as BibTeX, CSL JSON, a text, and in a CITATION.cff."""

from enum import StrEnum


class CitationFormat(StrEnum):
    """The formats that ``talkhouse cite`` offers; a help page need not load what writes them."""

    BIBTEX = "bibtex"
    CSL = "csl"
    TEXT = "text"
