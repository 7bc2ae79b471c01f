"""Searches as frames."""

from typing import Any

import polars as pl

from talkhouse.api.options import check_options, without_none
from talkhouse.search.containing import search
from talkhouse.warehouse.opened import Warehouse

_LIMIT = 50
"""Rows unless a user says how many, as in the command."""

_WHERE = ("corpus", "role", "split", "limit")

_TEXT: dict[str, Any] = {
    "dialogue_id": pl.String,
    "turn_index": pl.Int64,
    "role": pl.String,
    "speaker": pl.String,
    "text": pl.String,
    "matches": pl.List(pl.List(pl.Int64)),
    "corpus_id": pl.String,
    "splits": pl.List(pl.String),
}
_RANKED = {"place": pl.Int64, "score": pl.Float64, "kind": pl.String, **_TEXT, "record_id": pl.String}


def found(warehouse: Warehouse, text: str, *, rank: bool, **where: Any) -> tuple[pl.DataFrame, int]:
    """Return the rows that a search finds as a frame, and the number of those that are left out."""
    check_options(where, (*_WHERE, "kind") if rank else (*_WHERE, "regex", "match_case"), "a search")
    chosen = {"limit": _LIMIT, **without_none(where)}
    if not rank:
        matches = search(warehouse.con, text, context=0, **chosen)
        return _frame(matches.hits, _TEXT), matches.turns - len(matches.hits)
    from talkhouse.search.find import find_by_words

    limit = chosen.pop("limit")
    ranked = find_by_words(warehouse, text, {name: [value] for name, value in chosen.items()}, limit)
    return _frame(ranked.hits, _RANKED), ranked.texts - len(ranked.hits)


def _frame(hits: Any, schema: dict[str, Any]) -> pl.DataFrame:
    rows = [{name: getattr(hit, name) for name in schema} for hit in hits]
    matches = [[list(match) for match in row.pop("matches")] for row in rows]
    others = {name: kind for name, kind in schema.items() if name != "matches"}
    frame = pl.DataFrame(rows, schema=others, orient="row")
    return frame.with_columns(pl.Series("matches", matches, schema["matches"])).select(*schema)
