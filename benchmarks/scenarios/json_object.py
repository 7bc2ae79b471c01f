"""One JSON object of conversations, as MANtIS is published: our ingest, and every peer that can read it."""

from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, growing, ingest, peer
from benchmarks.shapes.mantis import write_file

_PATIENCE = 900
"""Seconds after which a peer is stopped."""

_SIZES = {"3 dialogues": 3, "5 MB": 950, "50 MB": 9_500, "430 MB": 82_000}
_GROWTH = {"27 MB": 5_125, "107 MB": 20_500, "430 MB": 82_000}


def _case(name: str, dialogues: int, folder: Path, *, is_strict: bool = False) -> Case:
    source = folder / "merged_train.json"
    size = write_file(source, dialogues, is_strict=is_strict)
    database = folder / "duckdb" / "tables.duckdb"
    written = {kind: folder / kind for kind in ("datasets", "convokit", "dlt")}
    sides = (
        ingest("mantis", source),
        peer("DuckDB, typed read_json into two tables", "duckdb_object", source, database, writes=database),
        peer("json.load", "json_load", source),
        peer("orjson", "orjson_loads", source),
        peer("Polars, read_json", "polars_read", source, seconds=_PATIENCE),
        peer("pandas, read_json", "pandas_read", source, "utterances", seconds=_PATIENCE),
        *(
            peer(title, script, source, written[kind], writes=written[kind], seconds=_PATIENCE)
            for title, script, kind in (
                ("datasets, from_generator", "datasets_generator", "datasets"),
                ("ConvoKit, Corpus", "convokit_corpus", "convokit"),
                ("dlt to DuckDB", "dlt_duckdb", "dlt"),
            )
        ),
    )
    return Case(name, sides, size)


SCENARIO = Scenario(
    name="json",
    title="Load one JSON object of conversations (MANtIS's shape)",
    cases={
        **{name: partial(_case, name, count) for name, count in _SIZES.items()},
        "50 MB strict": partial(_case, "50 MB strict", _SIZES["50 MB"], is_strict=True),
    },
    quick=("5 MB",),
    bar={"50 MB": 1.2, "430 MB": 0.8},
    notes=(
        "Whole processes on both sides, start and imports included: what 3 dialogues take is the same for every size.",
        "Ours checks every field, keeps what no table has a column for, finds texts that repeat, and checks and "
        "publishes views; the others parse, infer or cast types.",
        "The publisher writes NaN where a person has no name, which JSON does not have. orjson and Polars refuse such "
        "a file. The strict one has none: all can read it.",
        "Polars reads the object as one row with a column for each dialogue; load_dataset of datasets would, too, and "
        "is given the records of json.load. pandas makes a frame of dialogues and one of turns. ConvoKit and dlt are "
        "given the result of json.load, as their documentation shows; dlt keeps what it prepares beside the database.",
        "The whole file is in memory, ours too: its peak shall stay below the file's size and 600 MB.",
    ),
)

GROWTH = growing("json-growth", "Load a JSON object of 1, 4 and 16 times the size", _case, _GROWTH)
