"""What is counted of the turns of a corpus: those without text, texts in ``extra``, marks, and broken letters."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any

import polars as pl

from talkhouse.ingest.declared.declaration.model import Declaration, JsonPath
from talkhouse.ingest.declared.declaration.table import path_text
from talkhouse.ingest.declared.parsed_dialogue import NO_TEXT
from talkhouse.ingest.declared.record_files.repaired import BROKEN, is_broken
from talkhouse.ingest.declared.shapes import RESERVED
from talkhouse.ingest.keys import Tallies, Tally
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.sources import SourceFile

TEXT_IN_EXTRA, LIKE_A_MARK, MOJIBAKE = "GF-27", "GF-28", "GF-29"
"""The rules of the other findings."""

_MARK = r"(?m:^)[^\S\r\n]*(?:[#*]+ ?)?((?:\p{Lu}[\w.'-]{0,20}(?: [\w.'-]{1,20}){0,2}|\p{L}\w{0,20}):)(?:\*+)?[ \t]"
_FIRST_LINE = r"^[^\n]*"
_MOST_LOOKED_AT = 2_000
"""Turns of a file whose ``extra`` is looked into."""
_MOST_NAMED = 8
_SHOWN = 60
_LEAST_WORDS, _LEAST_LETTERS = 3, 8
"""Of what looks like a text: words, or letters where a script has no blanks."""


class TurnTallies:
    """Counts the turns of one corpus, file by file."""

    def __init__(self, declaration: Declaration, tallies: Tallies) -> None:
        self._tallies = tallies
        self._has_marks = bool(declaration.markers) or declaration.lines is not None
        labels = (path for spec in declaration.annotations for path in (spec.label, spec.value, spec.each, spec.by))
        self._declared = {path[0] for path in labels if path} | RESERVED
        taken = [*vars(declaration.turn).values(), *chain.from_iterable(declaration.turn.fallbacks.values())]
        self._taken = {path[0] for path in taken if path and isinstance(path, tuple)}
        self._inside = _path_inside(declaration.dialogue.turns)
        self._seen = defaultdict[str, set[int]](set)
        self._file = ""

    def add(self, file: SourceFile, turns: int, empty: int, pointer: str = "") -> None:
        """Count some turns of a file; ``pointer`` is where the first of those without a text stands."""
        tally = self._tallies[file.id]
        tally.turns += turns
        tally.turns_without_text += empty
        if empty and tally.first_without_text is None:
            tally.first_without_text = pointer

    def leave_out(self, file: SourceFile, pointers: list[str]) -> None:
        """Count the messages that are no turns, since they have no text."""
        tally = self._tallies[file.id]
        tally.messages_left_out += len(pointers)
        if pointers and tally.first_without_text is None:
            tally.first_without_text = pointers[0]

    def look(self, file: SourceFile, turns: pl.DataFrame, spoken: pl.DataFrame) -> None:
        """Look into turns, by their ``text`` and ``extra``, and at who speaks: ``speaker`` and ``shown``."""
        tally, texts = self._tallies[file.id], turns["text"]
        words = spoken.select("speaker", "shown", text=texts)
        broken = words.filter(pl.any_horizontal(pl.all().str.contains(BROKEN)))
        tally.broken_texts += sum(any(word and is_broken(word) for word in row) for row in broken.iter_rows())
        if self._has_marks:
            marks = texts.str.replace(_FIRST_LINE, "").str.extract_all(_MARK).explode().drop_nulls()
            tally.marks = dict(Counter(tally.marks) + Counter(mark.strip(" \t#*").rstrip(":") for mark in marks))
        if self._file != file.id:
            self._file, self._seen = file.id, defaultdict(set)
        some = turns.select("text", "extra").head(max(0, _MOST_LOOKED_AT - tally.looked_at))
        tally.looked_at += len(some)
        for text, extra in some.drop_nulls("extra").iter_rows():
            self._count(tally, text, _texts_in(_values(extra), self._declared))

    def look_inside(self, file: SourceFile, extras: Iterable[str | None]) -> None:
        """Look into the ``extra`` of records, where turns in lists inside of lists, or in a cell, stay as they are."""
        tally = self._tallies[file.id]
        for extra in extras if self._inside else ():
            if extra is None or (len(self._inside) == 2 and f'"{self._inside[0]}":"' not in extra):
                continue
            for turn in _at(_values(extra), self._inside):
                if tally.looked_inside < _MOST_LOOKED_AT and isinstance(turn, dict):
                    tally.looked_inside += 1
                    self._count(tally, "", _texts_in(turn, self._declared | self._taken))

    def _count(self, tally: Tally, text: str, members: Iterable[tuple[str, str]]) -> None:
        for name, value in members:
            count, like_texts, first = tally.members.get(name, (0, 0, ""))
            if value == text or hash(value) in self._seen[name]:
                tally.members[name] = count + (value != text), like_texts, first
                continue
            self._seen[name].add(hash(value))
            is_text = is_like_a_text(value)
            first = first or (value[:_SHOWN] if is_text else "")
            tally.members[name] = count + 1, like_texts + is_text, first

    def findings(self, path: str) -> Iterator[tuple[str, ReaderFinding]]:
        """Yield what there is to find, each with the id of the first file that has it.

        ``path``: where the text should be, as the declaration says it.
        """
        turns, empty, left_out, broken = (
            sum(getattr(tally, name) for tally in self._tallies.values())
            for name in ("turns", "turns_without_text", "messages_left_out", "broken_texts")
        )
        details = [f"{left_out:,} messages have no text at {path} and are no turns; here the first"] if left_out else []
        if empty and empty == turns:
            details.insert(0, f"none of {turns:,} turns has a text at {path}: is that where it is?")
        elif empty:
            details.insert(0, f"{empty:,} of {turns:,} turns have no text at {path}; here the first")
        if details:
            first = self._first("turns_without_text", "messages_left_out")
            yield (first, ReaderFinding(NO_TEXT, "; ".join(details), pointer=self._tallies[first].first_without_text))
        members = list(self._like_texts())
        if members:
            detail = f"in extra alone, and like a text: {', '.join(members[:_MOST_NAMED])}"
            yield self._first("members"), ReaderFinding(TEXT_IN_EXTRA, detail)
        marks = sum((Counter(tally.marks) for tally in self._tallies.values()), Counter[str]())
        if marks:
            named = ", ".join(f"{mark:.40} {count:,}" for mark, count in sorted(marks.most_common(_MOST_NAMED)))
            detail = f"{marks.total():,} lines within turns begin like a mark that is none: {named}"
            yield self._first("marks"), ReaderFinding(LIKE_A_MARK, detail)
        if broken:
            detail = f"{broken:,} of {turns:,} turns have a text or a speaker that is UTF-8 taken for another encoding"
            yield self._first("broken_texts"), ReaderFinding(MOJIBAKE, detail)

    def _first(self, *counts: str) -> str:
        return min(file_id for file_id, tally in self._tallies.items() if any(getattr(tally, name) for name in counts))

    def _like_texts(self) -> Iterator[str]:
        """Yield the members most of whose values are like a text, and not the same again and again."""
        totals: dict[str, tuple[int, int, str]] = {}
        for tally in self._tallies.values():
            for name, (count, like_texts, first) in tally.members.items():
                before = totals.get(name, (0, 0, ""))
                totals[name] = before[0] + count, before[1] + like_texts, before[2] or first
        for name, (count, like_texts, first) in totals.items():
            if like_texts and like_texts * 2 >= count:
                yield f"{name:.80} ({first!r})"


def _texts_in(members: Mapping[Any, Any], but: set[Any], above: JsonPath = ()) -> Iterator[tuple[str, str]]:
    """Yield the texts among members, and in their objects and lists, with their paths."""
    for name, value in members.items():
        if not above and name in but:
            continue
        if isinstance(value, str) and value:
            yield path_text((*above, name.removesuffix("_") if name and name.rstrip("_") in RESERVED else name)), value
        elif isinstance(value, dict):
            yield from _texts_in(value, but, (*above, name))
        elif isinstance(value, list):
            for item in value:
                inside = item if isinstance(item, dict) else {None: item}
                yield from _texts_in(inside, but, (*above, name, None) if inside is item else (*above, name))


def _path_inside(path: JsonPath | None) -> JsonPath:
    """Return the path of turns in lists inside of lists, or in a cell, to each of them; an empty one of no such."""
    inside = path[:-1] if path and path[-1] is ... else path or ()
    if not path or not (len(path) == 1 or {None, ...} & set(inside)):
        return ()
    return path if path[-1] is ... else (*path, None)


def _at(value: Any, path: JsonPath) -> Iterator[Any]:
    """Yield what is at a path, in which None stands for any item of a list and ``...`` for any member."""
    if not path:
        yield value
        return
    step, *rest = path
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):  # JSON in a cell
        with suppress(ValueError, RecursionError):
            value = _values(value)
    if step is None or step is ...:
        items = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    else:
        items = [value[step]] if isinstance(value, dict) and step in value else ()
    for item in items:
        yield from _at(item, tuple(rest))


def is_like_a_text(value: str) -> bool:
    """Whether a value may be what somebody says."""
    letters = sum(map(str.isalpha, value))
    is_wordy = len(value.split()) >= _LEAST_WORDS or (
        len(value) >= _LEAST_LETTERS and re.search(r"[\u3040-\u9fff\uac00-\ud7a3]", value) is not None
    )
    return is_wordy and letters * 2 > len(value) and "://" not in value


def _values(extra: str) -> Any:
    """Decode ``extra``, in which a number may be beyond all doubles."""
    return json.loads(extra, parse_int=float)
