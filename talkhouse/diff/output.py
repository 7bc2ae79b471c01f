"""Every cell that differs, as a Parquet file."""

from collections.abc import Sequence
from pathlib import Path

import duckdb

from talkhouse.diff.compare import CELLS
from talkhouse.query.export import write_rows
from talkhouse.schema.errors import UsageError
from talkhouse.system.atomic_output import output_errors


def check_output(output: Path, states: Sequence[Path], *, force: bool) -> None:
    """Raise UsageError where a file would replace one of the states, or without ``force`` anything."""
    with output_errors(output):
        if output.is_dir() or not output.exists():
            return
        if any(output.samefile(state) for state in states):
            problem = "the output would replace what is compared"
            raise UsageError(problem, where=output, next_step="name another --output")
    if not force:
        raise UsageError(
            "the file exists already", where=output, next_step="name another --output, or replace it with --force"
        )


def write_cells(con: duckdb.DuckDBPyConnection, output: Path) -> None:
    """Write the table of cells to a file, whole or not at all."""
    write_rows(con, f"from {CELLS}", output, force=True)
