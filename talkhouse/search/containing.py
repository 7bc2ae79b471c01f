"""Find the turns that contain a text, with the turns before and after them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import uuid4

import duckdb

from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import dicts
from talkhouse.schema.sql_files import sql_of
from talkhouse.warehouse.relations import check_corpus


@dataclass(frozen=True)
class ShownTurn:
    """A turn that a search shows; ``matches`` are (begin, end) in characters of its text, from 0, the end exclusive."""

    dialogue_id: str
    turn_index: int
    role: str
    kind: str
    speaker_id: str | None
    speaker: str | None
    said_at: datetime | None
    text: str
    matches: list[tuple[int, int]]


@dataclass(frozen=True)
class Hit(ShownTurn):
    """A turn that contains the text; ``before`` and ``after`` are the turns around it, in order."""

    corpus_id: str
    splits: list[str]
    """The splits that its dialogue was published in, by the publisher's names."""
    before: list[ShownTurn] = field(default_factory=list)
    after: list[ShownTurn] = field(default_factory=list)


@dataclass(frozen=True)
class SearchMatches:
    """How many turns of how many dialogues contain the text, and the first of these turns, in order."""

    turns: int
    dialogues: int
    hits: list[Hit]


def search(
    con: duckdb.DuckDBPyConnection,
    text: str,
    *,
    regex: bool = False,
    match_case: bool = False,
    corpus: str | None = None,
    role: str | None = None,
    split: str | None = None,
    context: int = 1,
    limit: int = 50,
) -> SearchMatches:
    """Find the turns that contain a text, or match a regular expression (RE2's syntax); case matters where asked for.

    The hits are sorted by dialogue_id and turn_index, at most ``limit`` of them, each with ``context`` turns before and
    after. ``split`` is a publisher's name or train, validation, test; a dialogue published in several is in each.
    Raises UsageError for an empty text, a malformed expression, or a corpus, role or split that does not exist.
    """
    pattern = Pattern(text, regex, match_case)
    pattern.check(con)
    where, values = _conditions(con, corpus, role, split)
    query = sql_of(__file__, "containing_turns", condition=" and ".join([*where, pattern.condition]))
    ((turns, dialogues, ids, indexes),) = con.execute(query, {**values, "pattern": text, "limit": limit}).fetchall()
    shown = list(zip(ids or (), indexes or (), strict=True))
    return SearchMatches(turns, dialogues, list(hits(con, shown, pattern, context)))


@dataclass(frozen=True)
class Pattern:
    """What is searched for: a text to the character, or a regular expression in RE2's syntax."""

    text: str
    regex: bool = False
    match_case: bool = False
    """Whether A is another letter than a."""

    @property
    def options(self) -> str:
        """The options of DuckDB's regexp_matches that make it search as asked."""
        has_no_case = not self.regex and self.text.lower() == self.text.upper()
        return ("" if self.regex else "l") + ("" if self.match_case or has_no_case else "i")

    @property
    def condition(self) -> str:
        """The SQL condition on ``text`` that holds for a match; its value ``pattern`` is the text."""
        # As fast as a literal expression, and never read as a pattern.
        return (
            f"regexp_matches(text, $pattern, '{self.options}')" if self.options != "l" else "contains(text, $pattern)"
        )

    def check(self, con: duckdb.DuckDBPyConnection) -> None:
        """Raise UsageError for an empty text, one that is not Unicode, or an expression that RE2 can't read."""
        if not self.text:
            raise UsageError("there is nothing to search for", expected="a text of one character or more")
        try:
            con.execute(f"select regexp_matches('', $pattern, '{self.options}')", {"pattern": self.text})
        except duckdb.InvalidInputException as error:
            reason = str(error).removeprefix("Invalid Input Error: ")
            if not self.regex:
                raise UsageError("the text is not valid Unicode", found=reason, next_step="type it in UTF-8") from error
            raise UsageError(
                "the regular expression can't be read",
                expected="RE2's syntax: https://github.com/google/re2/wiki/Syntax",
                found=reason,
                next_step="leave out --regex to search for the text literally",
            ) from error


def hits(con: duckdb.DuckDBPyConnection, shown: list[tuple[str, int]], pattern: Pattern, context: int) -> Iterator[Hit]:
    """Read turns, by dialogue_id and turn_index, with their matches and ``context`` turns before and after each."""
    dialogues = list(dict.fromkeys(dialogue_id for dialogue_id, _ in shown))
    found = con.execute(sql_of(__file__, "dialogues_found"), {"dialogues": dialogues})
    facts = {row.pop("dialogue_id"): row for row in dicts(found)}
    tags = _Tags()
    values = {
        "dialogues": [dialogue_id for dialogue_id, _ in shown],
        "turns": [turn_index for _, turn_index in shown],
        "context": context,
        "pattern": pattern.text,
        "tag": tags.rewrite,
    }
    turns: defaultdict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
    for row in dicts(con.execute(sql_of(__file__, "turns_around", options=pattern.options), values)):
        row["matches"] = tags.matches(row.pop("tagged"))
        turns[row["dialogue_id"]][row["turn_index"]] = row
    for dialogue_id, turn_index in shown:
        dialogue = turns[dialogue_id]
        first, last = max(turn_index - context, 0), min(turn_index + context, max(dialogue))
        before = [ShownTurn(**dialogue[index]) for index in range(first, turn_index) if index in dialogue]
        after = [ShownTurn(**dialogue[index]) for index in range(turn_index + 1, last + 1) if index in dialogue]
        yield Hit(**dialogue[turn_index], **facts[dialogue_id], before=before, after=after)


def with_neighbours(hits: Iterable[Hit]) -> list[tuple[Hit, ShownTurn]]:
    """Return, in order and each once, the hits of one dialogue and the turns around them, each with its hit."""
    lines: dict[int, tuple[Hit, ShownTurn]] = {}
    for hit in hits:
        for turn in (*hit.before, *hit.after):
            lines.setdefault(turn.turn_index, (hit, turn))
        lines[hit.turn_index] = (hit, hit)
    return [line for _, line in sorted(lines.items())]


class _Tags:
    """Tags that no text contains, which DuckDB puts around each match, since only RE2 knows what a pattern matches."""

    def __init__(self) -> None:
        token = uuid4().hex
        self._opening, self._closing = f"<{token}>", f"</{token}>"
        self.rewrite = rf"{self._opening}\0{self._closing}"

    def matches(self, tagged: str) -> list[tuple[int, int]]:
        """Return begin and end of each match in the text without its tags."""
        before, *rest = tagged.split(self._opening)
        at, matches = len(before), []
        for piece in rest:
            match, _, after = piece.partition(self._closing)
            matches.append((at, at + len(match)))
            at += len(match) + len(after)
        return matches


_OF_CORPUS = "starts_with(dialogue_id, $corpus || ':')"


def _conditions(
    con: duckdb.DuckDBPyConnection, corpus: str | None, role: str | None, split: str | None
) -> tuple[list[str], dict[str, Any]]:
    """Return the conditions that select turns, and their values; refuse names that do not exist."""
    on_turns: list[str] = []
    values: dict[str, Any] = {}
    if corpus is not None:
        check_corpus(con, corpus)
        on_turns.append(_OF_CORPUS)
        values["corpus"] = corpus
    where = on_turns[0] if on_turns else "true"
    if role is not None:
        _check_known(con, "role", role, f"select role from main.turns where {where}", values)
        on_turns.append("role = $role")
    if split is not None:
        known = f"select unnest([split, standard_split]) from main.records where dialogue_id is not null and {where}"
        _check_known(con, "split", split, known, values)
        on_turns.append("dialogue_id in (select dialogue_id from main.records where $split in (split, standard_split))")
    named = {"role": role, "split": split}
    return on_turns, values | {name: value for name, value in named.items() if value is not None}


def _check_known(con: duckdb.DuckDBPyConnection, what: str, name: str, query: str, values: dict[str, Any]) -> None:
    rows = con.execute(f"select distinct name from ({query}) as known(name) order by all", values).fetchall()
    names = [known for (known,) in rows if known is not None]
    if name not in names:
        raise UsageError(f"no {what} '{name}' here", expected=f"one of: {', '.join(names)}")
