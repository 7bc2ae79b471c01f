"""Talkhouse's own views can all be had in a lake: one that can't is named, with what to do."""

import duckdb

from talkhouse.queries.catalogue import catalogue
from talkhouse.translation.translate import left_out, left_out_lines


def test_every_view_is_portable(con: duckdb.DuckDBPyConnection) -> None:
    refused = left_out(con, catalogue())
    assert not refused, "\n".join(
        [
            "a lake would be without views of Talkhouse's own; queries/README.md says what a view may use:",
            *left_out_lines(refused),
        ]
    )
