"""The fingerprint of a published split: what its examples are, so that predictions and scores of another are seen."""

from typing import NamedTuple

import duckdb

_ROW = (
    "concat_ws(chr(31), coalesce(release, ''), split, example_index::varchar, record_id, "
    "coalesce(turn_index::varchar, ''), item_index::varchar)"
)
"""An example as text; what joins its parts stands in no key, and who has no item_index has no such part."""

FINGERPRINT = f"lower(lpad(to_hex(bit_xor(md5_number({_ROW}))), 32, '0'))"
"""SQL: 32 hex digits over rows of ``main.examples`` in any order: the exclusive or of the MD5 of each row."""


class Split(NamedTuple):
    """The examples of a task in one release and split."""

    release: str | None
    split: str
    fingerprint: str
    rows: int


def splits(con: duckdb.DuckDBPyConnection, corpus_id: str, task: str) -> list[Split]:
    """List the releases and splits of a task, with the fingerprint of each; empty for what is no task."""
    rows = con.execute(
        f"select release, split, {FINGERPRINT}, count(*) from main.examples where corpus_id = ? and task = ? "
        "group by release, split order by release nulls first, split",
        [corpus_id, task],
    )
    return [Split(*row) for row in rows.fetchall()]
