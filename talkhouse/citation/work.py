"""What there is to cite: a corpus with its authors, year and publication, as its declaration has them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import duckdb


@dataclass(frozen=True)
class Citation:
    """A corpus and how it is cited; what is not declared is None or empty, and nothing is parsed from ``text``."""

    corpus_id: str
    title: str
    """Of the corpus."""
    authors: tuple[tuple[str, str], ...]
    """Family name and given names of each."""
    year: int | None
    reference: dict[str, Any] | None
    """The publication: kind, title, venue, doi, arxiv, url, in so far as they are declared."""
    text: str
    """The reference as a sentence."""
    homepage: str
    licence: str


def citations(con: duckdb.DuckDBPyConnection, database: str, corpus_ids: Iterable[str]) -> list[Citation]:
    """Return what to cite for these corpora, in the order of their ids."""
    raise NotImplementedError
