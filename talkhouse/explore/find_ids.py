"""Find the dialogues and records whose id is, or contains, a text that somebody types."""

import duckdb

from talkhouse.explore.resolve_id import Target

_NAMED = """
with known as (
    select 'dialogue' as kind, dialogue_id as id, dialogue_id as name from main.dialogues
    union all
    select 'dialogue', dialogue_id, native_id from main.dialogues where native_id is not null
    union all
    select 'record', record_id, record_id from main.records
)
select kind, id
from known
where lower(name) = lower($text) or (not $whole and contains(lower(name), lower($text)))
group by kind, id
order by bool_or(lower(name) = lower($text)) desc, kind, id
limit $limit
"""


def find_ids(con: duckdb.DuckDBPyConnection, text: str, limit: int, *, whole: bool = False) -> list[Target]:
    """Return the first dialogues and records with an id, or the publisher's id of a dialogue, that contains the text.

    Whole ids come before those that only contain it; ``whole``: these alone. Upper and lower case are the same.
    """
    return [Target(*row) for row in con.execute(_NAMED, {"text": text, "limit": limit, "whole": whole}).fetchall()]
