"""One's own files: declared by options, compared with DuckDB's typed read; and many, by two processes and by one."""

import csv
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.scenario import Case, Scenario, command, ingest, peer

_MEMORY = "2GB"
_MESSAGE = "struct(message_id varchar, text varchar, role varchar, lang varchar, rank integer, replies json[])"
_TURN = "struct(speaker varchar, utterance varchar, frames json[])"
_CHAT = "id: 'varchar', messages: 'struct(role varchar, content varchar)[]'"
_NAMED = "id: 'varchar', messages: 'struct(role varchar, content varchar, name varchar, \"at\" timestamp)[]'"
_TALK = "id: 'varchar', conversations: 'struct(\"from\" varchar, \"value\" varchar)[]'"
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
    "named": _Kind(
        100, ("--format=chat", "--map=id=id", "--map=turn.speaker=name", "--map=said_at=at"), _NAMED, "messages"
    ),
    "sharegpt": _Kind(100, ("--format=sharegpt", "--map=id=id"), _TALK, "conversations"),
    "lines": _Kind(
        100,
        (
            "--format=turns",
            r"--map=lines.pattern=(?<time>\d+/\d+/\d\d, \d+:\d\d [AP]M) - (?<who>[^:]+): (?<said>.*)",
            *("--map=text=said", "--map=turn.speaker=who", "--map=said_at=time", "--map=speaker.name=who"),
            "--map=times.said_at=%m/%d/%y, %I:%M %p",
        ),
        "",
    ),
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
_ENDINGS = {"table": "own.csv", "lines": "own.txt", "convokit": "own_talks"}
_ROWS = 11_200
"""Rows of a megabyte of the table."""

CHAT_PAGE = """title = "Own talks"
format = "chat"
[dialogue]
id = "id"
[turn]
speaker = "name"
said_at = "at"
[[files]]
path = "*.jsonl"
"""


def _declared(kind: str, megabytes: float, folder: Path) -> Case:
    shape, source = _KINDS[kind], folder / _ENDINGS.get(kind, "own.jsonl")
    if kind == "table":
        _write_table(source, round(megabytes * _ROWS))
    elif kind == "lines":
        _write_messages(source, megabytes)
    elif kind == "convokit":
        _write_convokit(source, megabytes)
    else:
        write_lines(source, megabytes, getattr(Inventor(), kind))
    read = source / "utterances.jsonl" if kind == "convokit" else source
    database = folder / "duckdb" / "tables.duckdb"
    hints = [*filter(None, (shape.columns, shape.turns))]
    sides = (
        ingest("own_talks", source, *shape.options, "--memory-limit", _MEMORY),
        peer("DuckDB, typed", "duckdb_own", read, database, _MEMORY, *hints, writes=database),
    )
    return Case(sides, read.stat().st_size / 1e6)


def _many(files: int, folder: Path) -> Case:
    corpus = folder / "data" / "own_talks"
    corpus.mkdir(parents=True)
    (corpus / "corpus.toml").write_text(CHAT_PAGE)
    inventor, number = Inventor(), 0
    for file in range(files):
        number = write_lines(corpus / f"{file:05}.jsonl", 3, inventor.named, number)
    sides = []
    for jobs in (2, 1):
        database = folder / f"by_{jobs}" / "warehouse.duckdb"
        arguments = ("--data", folder / "data", "--db", database, "--jobs", str(jobs))
        sides.append(command("build", *arguments, name=f"talkhouse build --jobs {jobs}", writes=database))
    return Case(tuple(sides), sum(path.stat().st_size for path in corpus.iterdir()) / 1e6)


def _cases(sizes: dict[str, float]) -> dict[str, partial[Case]]:
    return {f"{kind} {megabytes:.0f} MB": partial(_declared, kind, megabytes) for kind, megabytes in sizes.items()}


_SMALL = _cases({"short": 10, "table": 10})

OWN = Scenario(
    name="own",
    title="Load one's own files, declared by options",
    cases=_cases({kind: shape.megabytes for kind, shape in _KINDS.items()}) | _SMALL,
    quick=tuple(_SMALL),
    bar={"long 500 MB": 2.5, "short 200 MB": 3, "table 170 MB": 4},
    notes=(
        f"Whole processes, {_MEMORY} of memory for either. DuckDB is told every name and type, checks nothing and "
        "keeps nothing else; its texts are compressed as Talkhouse's are.",
        "Streamed: all of these formats.",
    ),
)

_TIMES = {"short": 4, "named": 4.6, "sharegpt": 3.5, "table": 4.2, "preference": 4.5, "pairs": 4.2, "lines": 3}
_TIMES |= {"tree": 5, "convokit": 7.5}

SHAPES = Scenario(
    name="shapes",
    title="Load 60 MB of one's own data in every shape",
    cases=_cases(dict.fromkeys(_TIMES, 60)),
    quick=(),
    bar={f"{kind} 60 MB": times for kind, times in _TIMES.items()},
    measure="cpu",
    notes=OWN.notes[:1],
)

JOBS = Scenario(
    name="jobs",
    title="Load chat logs in many files, by two processes and by one",
    cases={f"{files} files of 3 MB": partial(_many, files) for files in (200, 12)},
    quick=("12 files of 3 MB",),
    bar={"200 files of 3 MB": 1.15},
    measure="cpu",
    notes=(
        "No id is in two files: a file that has an id of another one is read twice.",
        "One process keeps more than one core busy, since DuckDB decodes and inserts beside Python: on two cores, two "
        "processes are no faster.",
    ),
)


# Invented dialogues in the shape of each format.

_SYLLABLES = ("an", "be", "co", "da", "el", "fi", "go", "hu", "in", "jo", "ka", "lo", "mi", "ne", "or", "pa", "ri")
_WORDS = ["".join(random.Random(number).choices(_SYLLABLES, k=1 + number % 4)) for number in range(4_000)]
_FOREIGN = ["é", "🍳", "über", "naïve", "鍋"]


class Inventor:
    """Invents records from one seed."""

    def __init__(self, seed: int = 32) -> None:
        self._chance = random.Random(seed)

    def text(self, fewest: int = 4, most: int = 40) -> str:
        """Invent a text of so many words; every fifth has a letter beyond ASCII."""
        words = " ".join(self._chance.choices(_WORDS, k=self._chance.randint(fewest, most)))
        return f"{words} {self._chance.choice(_FOREIGN)}" if self._chance.random() < 0.2 else words

    def long(self, number: int) -> dict[str, Any]:
        """Invent a chat of long messages."""
        return self._chat(number, (1, 10), (80, 240))

    def short(self, number: int) -> dict[str, Any]:
        """Invent a chat of many short messages."""
        return self._chat(number, (10, 20), (4, 16))

    def named(self, number: int) -> dict[str, Any]:
        """Invent a chat; each message has a name and a time."""
        talk = self._chat(number, (4, 12), (4, 24))
        names = self._chance.choices(_WORDS, k=2)
        for index, message in enumerate(talk["messages"]):
            message |= {"name": names[index % 2], "at": f"2026-01-{1 + number % 28:02}T10:{index:02}:00Z"}
        return talk

    def _chat(self, number: int, messages: tuple[int, int], words: tuple[int, int]) -> dict[str, Any]:
        count = self._chance.randint(*messages)
        turns = [{"role": ("user", "assistant")[index % 2], "content": self.text(*words)} for index in range(count)]
        return {"id": f"k-{number:07}", "messages": turns}

    def sharegpt(self, number: int) -> dict[str, Any]:
        """Invent the same as ``short`` under other names."""
        talk, names = self.short(number), {"user": "human", "assistant": "gpt"}
        turns = [{"from": names[turn["role"]], "value": turn["content"]} for turn in talk["messages"]]
        return {"id": talk["id"], "conversations": turns}

    def pairs(self, _: int) -> dict[str, Any]:
        """Invent an instruction and its answer."""
        query = self.text() if self._chance.random() < 0.4 else ""
        return {"instruction": self.text(), "input": query, "output": self.text(20, 200)}

    def preference(self, _: int) -> dict[str, Any]:
        """Invent a prompt with a chosen and a rejected answer."""
        return {"prompt": self.text(), "chosen": self.text(20, 120), "rejected": self.text(20, 120)}

    def transcript(self, number: int) -> dict[str, Any]:
        """Invent a dialogue as one text."""
        lines = [
            f"\n\n{('Human', 'Assistant')[index % 2]}: {self.text()}" for index in range(self._chance.randint(2, 8))
        ]
        return {"id": number, "text": "".join(lines)}

    def tree(self, number: int) -> dict[str, Any]:
        """Invent a message with the replies to it."""
        return {"message_tree_id": f"t{number}", "prompt": self._message(f"t{number}", 0)}

    def _message(self, name: str, depth: int) -> dict[str, Any]:
        replies = [self._message(f"{name}.{place}", depth + 1) for place in range(self._chance.randint(0, 3 - depth))]
        role = ("prompter", "assistant")[depth % 2]
        return {"message_id": name, "text": self.text(), "role": role, "lang": "en", "rank": depth, "replies": replies}

    def dialogue(self, number: int) -> dict[str, Any]:
        """Invent a dialogue with frames and spans."""
        turns = []
        for index in range(self._chance.randint(4, 16)):
            text = self.text()
            slots = [{"slot": "place", "start": 0, "exclusive_end": len(text.split()[0])}]
            turns.append({"speaker": ("USER", "SYSTEM")[index % 2], "utterance": text, "frames": [{"slots": slots}]})
        return {"dialogue_id": f"{number}_0", "services": ["Rooms"], "turns": turns}


def write_lines(path: Path, megabytes: float, invent: Callable[[int], dict[str, Any]], number: int = 0) -> int:
    """Write JSON Lines; every other record has its letters beyond ASCII as escapes.

    ``number`` is that of the first record; returns that of the first one that is not written.
    """
    with path.open("w", encoding="utf-8") as stream:
        while stream.tell() < megabytes * 1e6:
            stream.write(json.dumps(invent(number), ensure_ascii=number % 2 == 0) + "\n")
            number += 1
    return number


def _write_table(path: Path, rows: int) -> None:
    """Write a CSV of turns: 20 a dialogue, some cells quoted."""
    inventor = Inventor()
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["conv_id", "utt_id", "speaker", "time", "utterance"])
        for number in range(rows):
            text = inventor.text(4, 16) + (", please" if number % 5 == 0 else "")
            row = [
                f"c{number // 20:06}",
                f"u{number % 20}",
                ("ann", "bo")[number % 2],
                f"2026-01-02 10:{number % 60:02}",
            ]
            writer.writerow([*row, text])


def _write_messages(path: Path, megabytes: float) -> None:
    """Write a chat as WhatsApp's export does in America: a line a message."""
    inventor, said_at, names = Inventor(), datetime(2001, 1, 1, 9, tzinfo=UTC), ("Ann", "Bo", "Jo Ann")
    with path.open("w", encoding="utf-8") as stream:
        while stream.tell() < megabytes * 1e6:
            said_at += timedelta(minutes=7)
            time = f"{said_at:%-m/%-d/%y, %-I:%M %p}"
            stream.write(f"{time} - {names[said_at.minute % 3]}: {inventor.text(4, 16)}\n")


def _write_convokit(folder: Path, megabytes: float) -> None:
    """Write a ConvoKit folder, whose utterances have so many megabytes."""
    folder.mkdir()

    def utterance(number: int) -> dict[str, Any]:
        root = number // 10 * 10
        reply = None if number == root else f"u{number - 1}"
        names = {"id": f"u{number}", "conversation_id": f"u{root}", "speaker": f"s{number % 997}"}
        return {**names, "text": inventor.text(), "reply-to": reply, "timestamp": number, "meta": {"score": number % 7}}

    inventor = Inventor()
    write_lines(folder / "utterances.jsonl", megabytes, utterance)
    people = {f"s{number}": {"meta": {}, "vectors": []} for number in range(997)}
    for name, content in (("speakers", people), ("conversations", {}), ("corpus", {}), ("index", {"version": 1})):
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
