"""JSON Lines as a relation: a column for each key, as text."""

import json
from collections.abc import Sequence

from talkhouse.schema.sql import literal, quoted
from talkhouse.scores.predictions.files import PredictionFile
from talkhouse.scores.predictions.names import check_names
from talkhouse.scores.predictions.reader import Reader

_TWICE = "len(keys) > len(list_distinct(list_transform(keys, lambda key: lower(key))))"


def json_lines(reader: Reader, file: PredictionFile, wanted: Sequence[str]) -> tuple[list[str], str]:
    """Return the keys of all rows, and the query of those that are wanted; ValueError for a key twice."""
    source = f"read_ndjson_objects({literal(str(file.only))}, compression = 'none')"
    reader.con.execute(
        "create or replace temp table shapes as "
        f"select json_type(json) = 'OBJECT' as is_object, json_keys(json) as keys from {source} group by all"
    )
    _check_shapes(reader, source)
    rows = reader.con.execute("select distinct unnest(keys) from shapes order by all limit 10001").fetchall()
    names = [name for (name,) in rows]
    if not names:
        raise ValueError("the file has no rows")
    try:
        check_names(names)
    except ValueError as error:
        raise ValueError(f"{error}, in different rows") from error
    members = [f"json ->> {literal('$.' + json.dumps(name))} as {quoted(name)}" for name in wanted if name in names]
    return names, f"select {', '.join(members) or 'null::varchar as warning'} from {source}"


def _check_shapes(reader: Reader, source: str) -> None:
    """Raise ValueError for rows that are no objects, or have a key twice, with the first of them."""
    for bad, problem in (("not is_object", "not a JSON object"), (_TWICE, "a key is in it twice")):
        if not reader.con.execute(f"select 1 from shapes where {bad} limit 1").fetchall():
            continue
        ((row, text),) = reader.con.execute(
            "select row, text from (select row_number() over () as row, (json::varchar)[:80] as text, "
            f"json_type(json) = 'OBJECT' as is_object, json_keys(json) as keys from {source}) where {bad} limit 1"
        ).fetchall()
        raise ValueError(f"row {row:,}: {problem}: {text}")
