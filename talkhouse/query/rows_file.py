"""The rows of a query as a file of any format of exports, without a manifest."""

from pathlib import Path

import duckdb

from talkhouse.query.export import format_of
from talkhouse.query.row_stream import Rows
from talkhouse.query.writers import check_formulas, write
from talkhouse.system.atomic_output import check_free, move_into_place, private_folder
from talkhouse.system.folders import target_of


def check_output(
    con: duckdb.DuckDBPyConnection, output: Path, *, escape_formulas: bool = False, force: bool = False
) -> None:
    """Raise UsageError where the file exists already (unless ``force``) or its ending shows no format that will do."""
    check_formulas(format_of(output), escape_formulas=escape_formulas)
    check_free(con, (output,), force=force)


def write_rows(
    con: duckdb.DuckDBPyConnection, query: str, output: Path, *, escape_formulas: bool = False, force: bool = False
) -> int:
    """Write the rows of a query to a file in the format of its ending, whole or not at all; return their number.

    Raises UsageError where the file exists already (unless ``force``) or its ending shows no format.
    """
    check_output(con, output, escape_formulas=escape_formulas, force=force)
    file_format = format_of(output)
    with private_folder(output) as folder:
        rows = Rows(con, con.sql(query))
        with (folder / "rows").open("w", encoding="utf-8", newline="") as stream:
            write(rows, file_format, stream, escape_formulas=escape_formulas)
        move_into_place(folder / "rows", target_of(output))
    return rows.count
