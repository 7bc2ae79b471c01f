"""One's own files, declared by options, beside DuckDB's typed read of the same file into tables."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, ingest, peer
from benchmarks.shapes.own import Inventor, convokit, formats, lines, table

_MEMORY = "2GB"
_MESSAGE = "struct(message_id varchar, text varchar, role varchar, lang varchar, rank integer, replies json[])"
_TURN = "struct(speaker varchar, utterance varchar, frames json[])"
_CHAT = "id: 'varchar', messages: 'struct(role varchar, content varchar)[]'"
_UTTERANCE = "id varchar, conversation_id varchar, speaker varchar, text varchar, timestamp bigint, meta json"


@dataclass(frozen=True)
class _Kind:
    """A shape of files: how large, what declares them, and what DuckDB is told of them."""

    megabytes: float
    options: tuple[str, ...]
    columns: str
    turns: str = ""
    """The list whose items go to a table of their own."""


_KINDS = {
    "long": _Kind(500, ("--format=chat", "--map=id=id"), _CHAT, "messages"),
    "short": _Kind(200, ("--format=chat", "--map=id=id"), _CHAT, "messages"),
    "table": _Kind(
        170, ("--format=turns", "--map=dialogue.id=conv_id", "--map=turn.id=utt_id", "--map=text=utterance"), ""
    ),
    "pairs": _Kind(100, ("--format=pairs",), "instruction: 'varchar', input: 'varchar', output: 'varchar'"),
    "preference": _Kind(100, ("--format=preference",), "prompt: 'varchar', chosen: 'varchar', rejected: 'varchar'"),
    "transcript": _Kind(
        100,
        (
            "--format=transcript",
            "--map=id=id",
            "--map=markers.\n\nHuman: =user",
            "--map=markers.\n\nAssistant: =assistant",
        ),
        "id: 'bigint', text: 'varchar'",
    ),
    "tree": _Kind(
        100, ("--format=tree", "--map=id=message_tree_id"), f"message_tree_id: 'varchar', prompt: '{_MESSAGE}'"
    ),
    "dialogue": _Kind(
        100,
        ("--format=dialogue", "--map=id=dialogue_id", "--map=turns=turns", "--map=text=utterance"),
        f"dialogue_id: 'varchar', services: 'varchar[]', turns: '{_TURN}[]'",
        "turns",
    ),
    "convokit": _Kind(
        100,
        ("--format=convokit",),
        ", ".join(f"{name}: '{kind}'" for name, kind in map(str.split, _UTTERANCE.split(", "))),
    ),
}
_ENDINGS = {"table": "own.csv", "convokit": "own_talks"}
_ROWS = 11_200
"""Rows of a megabyte of the table."""


def _write(kind: str, path: Path, megabytes: float) -> None:
    if kind == "table":
        table(path, round(megabytes * _ROWS))
    elif kind == "convokit":
        convokit(path, megabytes)
    else:
        lines(path, megabytes, dict(formats(Inventor()))[kind])


def _case(name: str, kind: str, megabytes: float, folder: Path) -> Case:
    shape, source = _KINDS[kind], folder / _ENDINGS.get(kind, "own.jsonl")
    _write(kind, source, megabytes)
    read = source / "utterances.jsonl" if kind == "convokit" else source
    database = folder / "duckdb" / "tables.duckdb"
    told = [*filter(None, (shape.columns, shape.turns))]
    sides = (
        ingest("own_talks", source, *shape.options, "--memory-limit", _MEMORY),
        peer("DuckDB, typed", "duckdb_own", read, database, _MEMORY, *told, writes=database),
    )
    return Case(name, sides, read.stat().st_size / 1e6)


def _named(kind: str, megabytes: float) -> tuple[str, partial[Case]]:
    name = f"{kind} {megabytes:.0f} MB"
    return name, partial(_case, name, kind, megabytes)


_SMALL = dict(_named(kind, 10) for kind in ("short", "table"))

SCENARIO = Scenario(
    name="own",
    title="Load one's own files, declared by options",
    cases=dict(_named(kind, shape.megabytes) for kind, shape in _KINDS.items()) | _SMALL,
    quick=tuple(_SMALL),
    bar={"long 500 MB": 2.5, "short 200 MB": 3, "table 170 MB": 4},
    notes=(
        f"Whole processes, {_MEMORY} of memory for either. DuckDB is told every name and type, checks nothing and "
        "keeps nothing else; its texts are compressed as Talkhouse's are.",
        "Streamed: all of these formats.",
    ),
)
