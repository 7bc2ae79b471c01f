"""Exports in every format, beside DuckDB's own COPY of the same query."""

from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, Side, module
from benchmarks.shapes.export import invent
from benchmarks.sides.export_rows import COPIES
from talkhouse.query.formats import ExportFormat

_ROWS = {"100,000 rows": 100_000, "1 million rows": 1_000_000, "3 million rows": 3_000_000}


def _side(name: str, way: str, warehouse: Path, output: Path) -> Side:
    return module(name, "benchmarks.sides.export_rows", way, warehouse, output, writes=output)


def _case(folder: Path, *, rows: str, file_format: str) -> Case:
    warehouse = folder.parent / f"export_{_ROWS[rows]}.duckdb"
    if not warehouse.exists():
        invent(warehouse, _ROWS[rows])
    ours = _side("talkhouse export", "export", warehouse, folder / f"ours.{file_format}")
    copy = _side("DuckDB, COPY", "copy", warehouse, folder / f"copy.{file_format}")
    return Case(f"{file_format}, {rows}", (ours, copy) if file_format in COPIES else (ours,), size=_ROWS[rows])


SCENARIO = Scenario(
    name="export",
    title="Export rows to a file",
    cases={
        f"{file_format}, {rows}": partial(_case, rows=rows, file_format=file_format)
        for file_format in ExportFormat
        for rows in _ROWS
    },
    quick=tuple(f"{file_format}, 100,000 rows" for file_format in ExportFormat),
    notes=(
        "Rows of 1 kB, sorted as the view's publisher has them. COPY gets the same memory limit and folder to sort in; "
        "it fails where that is too little. It writes no Arrow without an extension, and no manifest.",
    ),
)
