"""The terms under which rows may be used: those of the parts of corpora whose rows and columns are selected."""

from collections.abc import Iterable
from dataclasses import dataclass

from talkhouse.query.selection import Selection
from talkhouse.warehouse.opened import Warehouse


@dataclass(frozen=True)
class Part:
    """What the licence of a part of a corpus asks: a row of ``main.corpus_terms``."""

    corpus_id: str
    part: str
    spdx: str | None
    licence_url: str | None
    is_attribution: bool
    is_share_alike: bool
    is_non_commercial: bool
    is_unknown: bool
    note: str


def parts_of(warehouse: Warehouse, selections: Iterable[Selection]) -> tuple[Part, ...]:
    """Return the parts that have rows and columns among those selected, by corpus and part; none of samples."""
    raise NotImplementedError


def parts_of_corpus(warehouse: Warehouse, corpus_id: str) -> tuple[Part, ...]:
    """Return all parts of a corpus, for what has all of it."""
    raise NotImplementedError


def check_terms(parts: Iterable[Part], *, is_accepted: bool) -> None:
    """Raise TermsNotAccepted for terms that have to be accepted first, and for those that exclude each other."""
    raise NotImplementedError
