"""A response-ranking TSV with its conversations, beside DuckDB reading the same lines as text."""

from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, growing, ingest, peer
from benchmarks.shapes.ranking import write_folder

_SIZES = {"90 MB": 312, "1.5 GB": 5_000}
_GROWTH = {"90 MB": 312, "370 MB": 1_250, "1.5 GB": 5_000}


def _case(name: str, dialogues: int, folder: Path) -> Case:
    source, database = folder / "mantis", folder / "duckdb" / "lines.duckdb"
    size = write_folder(source, dialogues)
    lines = source / "data_train.tsv"
    sides = (
        ingest("mantis", source),
        peer("DuckDB, lines into memory", "duckdb_lines", lines, ":memory:"),
        peer("DuckDB, lines into a file", "duckdb_lines", lines, database, writes=database),
    )
    return Case(name, sides, size)


SCENARIO = Scenario(
    name="ranking",
    title="Load a ranking TSV with 50 wrong responses for each right one (MANtIS's shape)",
    cases={name: partial(_case, name, count) for name, count in _SIZES.items()},
    quick=("90 MB",),
    bar={"1.5 GB": 2},
    notes=(
        "Whole processes. Ours loads the conversations too, holds each context against their turns, finds the "
        "responses among their texts, and can write the files back. DuckDB makes a table of one text column as fast "
        "as it can: no quotes, no types, order not kept.",
        "Streamed: the TSV is never in memory as a whole; the conversations are.",
    ),
)

GROWTH = growing("ranking-growth", "Load a ranking TSV of 1, 4 and 16 times the size", _case, _GROWTH)
