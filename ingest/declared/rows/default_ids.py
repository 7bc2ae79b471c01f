"""The dialogues of turns that don't say of which they are: by what they reply to, as ConvoKit finds them."""

import polars as pl

from talkhouse.ingest.declared.rows.columns import ID, REPLY_TO, TURN_ID

HAS_DEFAULT = "has_default_id"
"""Column of rows: whether the file doesn't say of which dialogue a turn is."""

SAID = (ID, TURN_ID, REPLY_TO)

_BEGIN = "__default_conversation__"
"""Of the ids that ConvoKit gives."""


def with_defaults(said: pl.DataFrame) -> pl.Series:
    """Return the dialogue of each turn: its own, else that of what it replies to, in the end of the first turn."""
    ids, turns, replied = (said[name].to_list() for name in SAID)
    first: dict[str | None, int] = {}
    for row, turn in enumerate(turns):
        first.setdefault(turn, row)
    for start in said[ID].is_null().arg_true():
        path: dict[int, None] = {}
        row, above = start, start
        while above is not None and above not in path:
            row = above
            if ids[row] is not None:
                break
            path[row] = None
            above = first.get(replied[row]) if replied[row] is not None else None
        found = ids[row] if ids[row] is not None else f"{_BEGIN}{turns[row]}"
        for below in path:
            ids[below] = found
    return pl.Series(ID, ids, pl.String)
