"""Clauses: each way of breaking a rule, as a change of a corpus's sample and the finding that has to come of it."""

import importlib.util
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from talkhouse.ingest.common_rules import Severity

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


def clauses_in(folder: Path | None) -> list[Clause]:
    """Return the ``CLAUSES`` of the file ``clauses.py`` in a folder of tests; none where there is no such file."""
    path = folder / "clauses.py" if folder else None
    if path is None or not path.is_file():
        return []
    spec = importlib.util.spec_from_file_location(f"talkhouse_clauses_{path.parent.name}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"no module in {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    clauses: list[Clause] = module.CLAUSES
    return clauses


# Changes.


def together(*changes: Change) -> Change:
    """Make one change after the other."""

    def run(folder: Path) -> None:
        for change in changes:
            change(folder)

    return run


def put(at: str, value: Any) -> Change:
    """Set a value at ``FILE#POINTER`` of a JSON file; ``-`` as the last token appends it to a list."""

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
    """Replace the value at ``FILE#POINTER`` of a JSON file by what a function makes of it."""

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
    """Replace a text, which has to be there, by another."""
    old, new = (text if isinstance(text, bytes) else text.encode() for text in (old, new))

    def run(folder: Path) -> None:
        raw = (folder / name).read_bytes()
        if old not in raw:
            raise ValueError(f"{name} has no {old!r}")
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
        changed = make(lines[number])
        lines[number : number + 1] = [] if changed is None else [changed]
        (folder / name).write_bytes("\n".join(lines).encode())

    return run
