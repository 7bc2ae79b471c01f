"""Texts of records whose lines say who speaks, by the pattern in ``[lines]``: cut into turns, and joined again."""

import re
from collections.abc import Iterable

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.declaration.cells import line_begin, whole_line
from talkhouse.ingest.declared.declaration.model import ISO, Declaration, JsonPath
from talkhouse.ingest.declared.parsed_dialogue import ParsedTurn
from talkhouse.ingest.declared.speakers import NO_ROLE, Roles
from talkhouse.ingest.declared.times import not_a_time, read_time
from talkhouse.ingest.decode import BadRecord, literals
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.rows import Turn

MARK = "mark"
"""In a turn's ``extra``: what stands before its text, and behind it; elsewhere an unusual mark or separator."""

_SHOWN = 60


class LineTurns:
    """Cuts texts at their lines, or at what ``[dialogue] separator`` has between turns, and puts them together again.

    A line that the pattern does not fit goes on with the turn before.
    """

    def __init__(self, declaration: Declaration) -> None:
        lines, turn = declaration.lines, declaration.turn
        if lines is None:
            raise ValueError("no pattern of lines is declared")
        self._pattern = whole_line(lines.pattern)
        self._skip = None if lines.skip is None else line_begin(lines.skip)
        longest_first = sorted(declaration.separators, key=len, reverse=True)
        self._end = re.compile("|".join(map(re.escape, longest_first)) or r"\r?\n")
        self._groups = {key: _group(path) for key, path in vars(turn).items() if key in _KEYS and path}
        self._roles = Roles(declaration)
        self._form = declaration.times.get("said_at", ISO)

    def cut(self, text: str, pointer: str, findings: list[ReaderFinding], *, is_item: bool = False) -> list[ParsedTurn]:
        """Cut a text into turns.

        ``is_item``: it is one of several texts, so that a turn begins with it whatever it says. Else BadRecord GF-10
        where the pattern fits none of its lines, and a finding for what stands before the first that it fits.
        """
        lines = self._lines(text)
        bare = pl.Series([line for line, _ in lines], dtype=pl.String)
        fits = bare.str.contains(self._pattern)
        skipped = bare.str.contains(self._skip) if self._skip else pl.repeat(value=False, n=len(bare), eager=True)
        cells = bare.str.extract_groups(self._pattern).struct.unnest().to_dicts()
        turns: list[ParsedTurn] = []
        marks: list[tuple[str, str]] = []
        head, is_open = "", False
        for (line, end), is_turn, is_skipped, cell in zip(lines, fits, skipped & ~fits, cells, strict=True):
            is_first_of_item = is_item and not turns
            if is_turn or is_first_of_item:
                words = (cell[self._groups["text"]] or "") if is_turn else line
                start = len(line) - len(words) if line.endswith(words) else line.index(words)
                turns.append(self._turn(words, cell if is_turn else {}, pointer, findings))
                marks.append((head + line[:start], line[start + len(words) :] + end))
                head, is_open = "", True
            elif not turns:
                head += line + end
            elif is_open and not is_skipped and line.strip():
                before, behind = marks[-1]
                turns[-1].text += behind + line
                marks[-1] = before, end
            else:
                marks[-1] = marks[-1][0], marks[-1][1] + line + end
                is_open = is_open and not is_skipped
        if head:
            raise BadRecord("GF-10", f"the pattern in [lines] fits no line of the text: {text[:_SHOWN]!r}", pointer)
        for turn, mark in zip(turns, marks, strict=True):
            turn.extra = {MARK: Raw(msgspec.json.encode(mark))}
        if turns and lines[0][0] and not fits[0] and not is_item:
            detail = f"a line belongs to no turn, since none stands before it: {lines[0][0][:_SHOWN]!r}"
            findings.append(ReaderFinding("GF-10", detail, pointer=pointer, severity="warn"))
        return turns

    def _lines(self, text: str) -> list[tuple[str, str]]:
        """Return the lines, each with its end, which the last has none of."""
        lines, start = list[tuple[str, str]](), 0
        for end in self._end.finditer(text):
            lines.append((text[start : end.start()], end[0]))
            start = end.end()
        return [*lines, (text[start:], "")] if text[start:] else lines

    def _turn(self, text: str, cells: dict[str, str | None], pointer: str, findings: list[ReaderFinding]) -> ParsedTurn:
        found = {key: cells.get(group) or None for key, group in self._groups.items()}
        role, said_at = found.get("role"), found.get("said_at")
        turn = ParsedTurn(self._roles.role_of(role) if role else NO_ROLE, text, pointer, speaker=found.get("speaker"))
        if said_at is not None:
            turn.said_at, _ = read_time(said_at, self._form)
            if turn.said_at is None:
                findings.append(ReaderFinding("GF-09", not_a_time(said_at, self._form), pointer=pointer))
        return turn

    def join(self, turns: Iterable[Turn]) -> str:
        """Return the text that turns were cut from."""
        return "".join(text.join(_mark(extra)) for text, extra in ((turn.text, turn.extra) for turn in turns))


_KEYS = ("text", "speaker", "role", "said_at")


def _group(path: JsonPath) -> str:
    return str(path[0])


def _mark(extra: str | None) -> tuple[str, str]:
    return msgspec.json.decode(literals(extra)[MARK], type=tuple[str, str])
