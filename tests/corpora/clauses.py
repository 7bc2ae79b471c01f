"""Clauses: each way of breaking a rule, as a change of a corpus's sample and the finding that has to come of it."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import talkhouse
from talkhouse.build.progress import Silent
from talkhouse.build.quarantine_limit import QuarantineLimit
from talkhouse.build.run import build
from talkhouse.ingest.common_rules import Severity
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.outcomes import Loaded, LoadedBatch, Outcome, ReaderFinding, Rejected, Unrecognised
from talkhouse.ingest.registry import rules_of
from talkhouse.ingest.sources import opened

Change: TypeAlias = Callable[[Path], None]
"""Changes the files in a folder."""


@dataclass(frozen=True)
class Clause:
    """One way of breaking a rule."""

    rule: str
    change: Change
    place: str
    """``FILE#POINTER`` inside the corpus's folder."""
    words: str
    """Part of what the finding's detail says."""
    severity: Severity | None = None
    """Where it is less severe than the rule."""
    is_check: bool = False
    """Whether a check in SQL finds it, for which a warehouse has to be built; it names no place inside the file."""


class Told(NamedTuple):
    """A finding: its rule, how severe it is, where, and its detail."""

    rule: str
    severity: str
    place: str
    detail: str


def read_findings(corpus: Corpus, folder: Path) -> Counter[Told]:
    """Read a corpus's folder; returns what its reader finds."""
    rules = rules_of(corpus)
    with opened(disk_files(folder, corpus.id)) as (files, _):
        return Counter(
            Told(one.rule, one.severity or rules[one.rule].severity, _place(corpus, one), one.detail)
            for outcome in corpus.read(files)
            for one in _findings(outcome)
        )


def built_findings(corpus: Corpus, folder: Path, warehouse: Path) -> Counter[Told]:
    """Build a corpus's folder; returns what its reader and the checks find."""
    build(warehouse, Silent(), data=folder.parent, limit=QuarantineLimit("100%"))
    query = "select rule, severity, source_file_id, pointer, detail from meta.findings where source_file_id is not null"
    with talkhouse.open(warehouse) as con:
        return Counter(
            Told(rule, severity, f"{file.removeprefix(f'{corpus.id}/')}#{pointer or ''}", detail)
            for rule, severity, file, pointer, detail in con.execute(query).fetchall()
        )


def _findings(outcome: Outcome) -> list[ReaderFinding]:
    """List the findings of an outcome, each at its place in the file."""
    match outcome:
        case Loaded(location, _, findings, _):
            return [location.finding(one, "") for one in findings]
        case LoadedBatch():
            return outcome.findings
        case Rejected(location, rule, detail, at=at):
            return [ReaderFinding(rule, detail, location.file, location.pointer + at)]
        case Unrecognised(file, detail):
            return [ReaderFinding("TH-05", detail, file)]
        case ReaderFinding():
            return [outcome]
    return []


def _place(corpus: Corpus, finding: ReaderFinding) -> str:
    assert finding.file is not None
    return f"{finding.file.id.removeprefix(f'{corpus.id}/')}#{finding.pointer or ''}"


# Changes.


def together(*changes: Change) -> Change:
    """Make one change after the other."""

    def run(folder: Path) -> None:
        for change in changes:
            change(folder)

    return run


def put(at: str, value: Any) -> Change:
    """Put a value at ``FILE#POINTER`` of a JSON file; ``-`` as the last token appends it to a list."""

    def edit(owner: Any, last: str) -> None:
        if isinstance(owner, list) and last == "-":
            owner.append(value)
        else:
            owner[int(last) if isinstance(owner, list) else last] = value

    return _edited(at, edit)


def drop(at: str) -> Change:
    """Drop what is at ``FILE#POINTER`` of a JSON file."""
    return _edited(at, lambda owner, token: owner.pop(int(token) if isinstance(owner, list) else token))


def changed(at: str, make: Callable[[Any], Any]) -> Change:
    """Put at ``FILE#POINTER`` of a JSON file what is made of the value there."""

    def edit(owner: Any, token: str) -> None:
        key = int(token) if isinstance(owner, list) else token
        owner[key] = make(owner[key])

    return _edited(at, edit)


def _edited(at: str, edit: Callable[[Any, str], Any]) -> Change:
    name, _, pointer = at.partition("#")

    def run(folder: Path) -> None:
        path = folder / name
        whole = json.loads(path.read_bytes())
        *tokens, last = pointer.split("/")[1:]
        owner = whole
        for token in tokens:
            owner = owner[int(token) if isinstance(owner, list) else token]
        edit(owner, last)
        path.write_text(json.dumps(whole), encoding="utf-8")

    return run


def write(name: str, content: str | bytes) -> Change:
    """Write a file, be it there or not."""

    def run(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return run


def replaced(name: str, old: str | bytes, new: str | bytes) -> Change:
    """Put a text in the place of another one, which has to be there."""
    old, new = (text if isinstance(text, bytes) else text.encode() for text in (old, new))

    def run(folder: Path) -> None:
        raw = (folder / name).read_bytes()
        assert old in raw, (name, old)
        (folder / name).write_bytes(raw.replace(old, new, 1))

    return run


def copied(name: str, to: str) -> Change:
    """Copy a file."""

    def run(folder: Path) -> None:
        (folder / to).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / name, folder / to)

    return run


def removed(name: str) -> Change:
    """Remove a file."""
    return lambda folder: (folder / name).unlink()


def line(name: str, number: int, make: Callable[[str], str | None]) -> Change:
    """Change a line of a file, counted from 0, its end left out; None removes it."""

    def run(folder: Path) -> None:
        lines = (folder / name).read_bytes().decode().split("\n")
        made = make(lines[number])
        lines[number : number + 1] = [] if made is None else [made]
        (folder / name).write_bytes("\n".join(lines).encode())

    return run
