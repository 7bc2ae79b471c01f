"""A whole ingest of one's own files, declared by options, beside DuckDB's typed read of the same file into tables.

    uv run python -m benchmarks.own_ingest [--scale 1.0] [--repeat 5] [--only long short table ...]

DuckDB is told every name and type, checks nothing and keeps nothing else; its texts are compressed as Talkhouse's are.
Each run is a process of its own, the two kinds in turn; whole processes are measured.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import duckdb

from benchmarks.command import TALKHOUSE
from benchmarks.own_shape import Inventor, convokit, formats, lines, table

MEMORY = "2GB"
_MESSAGE = "struct(message_id varchar, text varchar, role varchar, lang varchar, rank integer, replies json[])"
_TURN = "struct(speaker varchar, utterance varchar, frames json[])"


@dataclass(frozen=True)
class Kind:
    """A shape of files: how large, what declares them, and what DuckDB is told of them."""

    megabytes: float
    options: tuple[str, ...]
    columns: str
    turns: str | None = None
    """The list whose items go to a table of their own."""
    bar: float | None = None


_MARKS = (("Human", "user"), ("Assistant", "assistant"))
_CHAT = "id: 'varchar', messages: 'struct(role varchar, content varchar)[]'"
_UTTERANCE = "id varchar, conversation_id varchar, speaker varchar, text varchar, timestamp bigint, meta json"
KINDS = {
    "long": Kind(500, ("--format=chat", "--map=id=id"), _CHAT, "messages", 2.5),
    "short": Kind(200, ("--format=chat", "--map=id=id"), _CHAT, "messages", 3),
    "table": Kind(
        170,
        ("--format=turns", "--map=dialogue.id=conv_id", "--map=turn.id=utt_id", "--map=text=utterance"),
        "",
        bar=4,
    ),
    "pairs": Kind(100, ("--format=pairs",), "instruction: 'varchar', input: 'varchar', output: 'varchar'"),
    "preference": Kind(100, ("--format=preference",), "prompt: 'varchar', chosen: 'varchar', rejected: 'varchar'"),
    "transcript": Kind(
        100,
        (
            "--format=transcript",
            "--map=id=id",
            "--map=markers.\n\nHuman: =user",
            "--map=markers.\n\nAssistant: =assistant",
        ),
        "id: 'bigint', text: 'varchar'",
    ),
    "tree": Kind(
        100, ("--format=tree", "--map=id=message_tree_id"), f"message_tree_id: 'varchar', prompt: '{_MESSAGE}'"
    ),
    "dialogue": Kind(
        100,
        ("--format=dialogue", "--map=id=dialogue_id", "--map=turns=turns", "--map=text=utterance"),
        f"dialogue_id: 'varchar', services: 'varchar[]', turns: '{_TURN}[]'",
        "turns",
    ),
    "convokit": Kind(
        100,
        ("--format=convokit",),
        ", ".join(f"{name}: '{kind}'" for name, kind in map(str.split, _UTTERANCE.split(", "))),
    ),
}


def write(kind: str, path: Path, scale: float) -> None:
    """Invent the files of a kind."""
    megabytes = KINDS[kind].megabytes * scale
    if kind == "table":
        table(path, round(megabytes * 11_200))
    elif kind == "convokit":
        convokit(path, megabytes)
    else:
        lines(path, megabytes, dict(formats(Inventor()))[kind])


def read(kind: str, path: Path, database: Path) -> None:
    """Be the process in which DuckDB reads the file: an object a row, and the turns in a table of their own."""
    shape = KINDS[kind]
    with duckdb.connect(database) as con:
        con.execute(f"set memory_limit = '{MEMORY}'")
        con.execute("set force_compression = 'zstd'")
        if kind == "table":
            con.execute(
                f"create table turns as from read_csv('{path}', all_varchar = true, header = true, delim = ',')"
            )
            return
        path = path / "utterances.jsonl" if kind == "convokit" else path
        source = f"read_json('{path}', format = 'newline_delimited', columns = {{{shape.columns}}})"
        if shape.turns is None:
            con.execute(f"create table records as from {source}")
            return
        con.execute(f"create temp table read as select row_number() over () as number, * from {source}")
        con.execute(f"create table records as select * exclude ({shape.turns}) from read")
        turn = f"generate_subscripts({shape.turns}, 1) as place, unnest({shape.turns}, max_depth := 2)"
        con.execute(f"create table turns as select number, {turn} from read")


def measure(command: list[str], database: Path) -> dict[str, float]:
    """Run a command as a process of its own: seconds, processor seconds, peak megabytes; and the file's megabytes."""
    database.unlink(missing_ok=True)
    done = subprocess.run([sys.executable, "-m", "benchmarks.command", *command], check=True, stdout=subprocess.PIPE)
    used: dict[str, float] = json.loads(done.stdout)
    return used | {"stored": database.stat().st_size / 1e6}


def compare(kind: str, scale: float, repeat: int) -> None:
    """Invent files, and read them both ways in turn."""
    endings = {"table": "own.csv", "convokit": "own_talks"}
    with tempfile.TemporaryDirectory() as name:
        path, database = Path(name) / endings.get(kind, "own.jsonl"), Path(name) / "w.duckdb"
        write(kind, path, scale)
        ours = [*TALKHOUSE, "ingest", "own_talks", str(path), *KINDS[kind].options, "--memory-limit", MEMORY]
        ours += ["--db", str(database)]
        theirs = [sys.executable, "-m", "benchmarks.own_ingest", "--read", kind, str(path), str(database)]
        measure(theirs, database)
        rounds = [{"talkhouse": measure(ours, database), "duckdb": measure(theirs, database)} for _ in range(repeat)]
        size = sum(one.stat().st_size for one in (path.iterdir() if path.is_dir() else [path])) / 1e6
    for who in rounds[0]:
        middle = {figure: statistics.median(one[who][figure] for one in rounds) for figure in rounds[0][who]}
        print(
            f"{kind:10} {size:4.0f} MB  {who:9}" + "".join(f"  {name} {value:7.1f}" for name, value in middle.items())
        )
    ratios = [
        statistics.median(one["talkhouse"][figure] / one["duckdb"][figure] for one in rounds)
        for figure in ("process", "cpu")
    ]
    bar = f"; bar {KINDS[kind].bar}" if KINDS[kind].bar else ""
    print(
        f"{kind:10} {ratios[0]:.2f} times DuckDB's seconds, {ratios[1]:.2f} times its processor time{bar}", flush=True
    )


def main() -> None:
    """Measure, or (``--read``) be the process that is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--read", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        kind, path, database = arguments.read
        read(kind, Path(path), Path(database))
        return
    for kind in arguments.only:
        compare(kind, arguments.scale, arguments.repeat)


if __name__ == "__main__":
    main()
