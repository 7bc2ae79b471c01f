"""A conversation as people said it, as HTML: each turn on its speaker's side, with its labels, lists and parts."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from markupsafe import Markup

from talkhouse.dashboard.content.notes import notes_html
from talkhouse.dashboard.reading.conversation_display import DeclaredParts
from talkhouse.dashboard.text import macros, marked, when, who
from talkhouse.dialogues.schemes import UNDECLARED, LabelScheme, Schemes
from talkhouse.dialogues.turns import CALL, RESPONSE, ItemList, Items, Votes, by_content, leading, readable
from talkhouse.notes.notes_file import NoteNow

_COLOURS = 6
_NOBODY = "system"
"""The look of a speaker that is neither a human nor a bot, such as a rule of the game."""

Matches = Mapping[int, list[tuple[int, int]]]
"""turn_index -> the spans to be marked in the turn."""

ComparedColumn = tuple[str, ...]
"""The names of records that label every turn alike."""


@dataclass(frozen=True)
class DialogueReading:
    """The options for drawing a conversation."""

    schemes: Schemes = field(default_factory=dict)
    matches: Matches = field(default_factory=dict)
    turn: int | None = None
    """The turn that is marked."""
    address: Callable[[int], str] | None = None
    """Returns the address of a turn; None: turns have no links to themselves."""
    like: Callable[[int], str] | None = None
    """Returns the address of the turns that are like one; None: there is no such link."""
    compare: bool = False
    """Whether publications stand side by side."""
    declared: DeclaredParts = field(default_factory=DeclaredParts)
    """The parts that the corpus declares."""
    notes: Mapping[int | None, Sequence[NoteNow]] = field(default_factory=dict)
    """The user's notes by the turn that they are shown at; None: those on the whole."""


def talk_html(found: dict[str, Any], reading: DialogueReading, records: list[dict[str, Any]] | None = None) -> str:
    """Return the result of ``show`` as HTML: the whole, then its turns, with the labels of ``records`` or of all."""
    dialogue = readable(found, records)
    every: dict[int | None, Items] = {None: dialogue.whole, **{turn.turn_index: turn.items for turn in dialogue.turns}}
    unanimous = unanimous_schemes(every)
    turns = [
        replace(turn, items=[(record, item) for record, item in turn.items if not _is_of(item, unanimous)])
        for turn in dialogue.turns
    ]
    bars: dict[str, set[str]] = {}
    names = set[str]()
    for _, item in (*dialogue.whole, *(item for turn in turns for item in turn.items)):
        if isinstance(item, Votes) and is_bar(item):
            bars.setdefault(item.scheme, set()).update(label for label, _ in item.counts)
            names.add(item.name)
    page = _Page(reading, columns_of(every) if reading.compare else [], speaker_looks(found), is_mixed=len(names) > 1)
    return str(_MACROS.talk(dialogue, turns, page, unanimous, dict(sorted(bars.items()))))


def _is_of(item: Votes | ItemList, schemes: Collection[str]) -> bool:
    return isinstance(item, Votes) and item.scheme in schemes


class _Page(NamedTuple):
    """The settings that all turns of a conversation share, and what its template asks."""

    reading: DialogueReading
    columns: list[ComparedColumn]
    looks: dict[str, str]
    is_mixed: bool
    """Whether bars of labels of several names are shown."""

    def scheme(self, name: str) -> LabelScheme:
        """Return a scheme, or one without declared labels."""
        return self.reading.schemes.get(name, UNDECLARED)

    def look(self, row: Mapping[str, Any]) -> str:
        """Return the classes of the speaker of a turn."""
        return self.looks[speaker_key(row)]

    def notes_at(self, turn_index: int | None) -> Markup:
        """Return the user's notes on a turn as HTML, or on the whole."""
        return Markup(notes_html(self.reading.notes.get(turn_index, ())))  # noqa: S704 - its texts are escaped

    def by_column(self, items: Items) -> list[list[tuple[Votes, tuple[str, ...]]]]:
        """Return the votes of each publication on a turn, with the majority of the first one on the same."""
        columns = [
            [shown for record, shown in items if record == column[0] and isinstance(shown, Votes)]
            for column in self.columns
        ]
        first = {_subject(votes): leading(votes.counts) for votes in columns[0]}
        return [[(votes, first.get(_subject(votes), ())) for votes in column] for column in columns]


def speaker_key(turn: Mapping[str, Any]) -> str:
    """Return the key of a turn's speaker."""
    return str(turn["speaker_id"] or ", ".join(turn["speakers"] or ()) or turn["role"])


def speaker_looks(found: dict[str, Any]) -> dict[str, str]:
    """Return the classes of each speaker: a colour in the order of speaking, and of two the second on the right.

    Of more speakers with two roles, so are those of the second role: the agents, whoever they are.
    """
    kinds = {participant["speaker_id"]: participant["kind"] for participant in found["participants"]}
    keys = dict.fromkeys(map(speaker_key, found["turns"]))
    people = [key for key in keys if kinds.get(key) != "system"]
    looks = {key: f"s{index % _COLOURS}" for index, key in enumerate(people)}
    roles = {speaker_key(turn): turn["role"] for turn in found["turns"]}
    sides = list(dict.fromkeys(roles[key] for key in people))
    for place, key in enumerate(people):
        if place == 1 if len(people) == 2 else len(sides) == 2 and roles[key] == sides[1]:
            looks[key] += " right"
    return {key: looks.get(key, _NOBODY) for key in keys}


def is_bar(votes: Votes) -> bool:
    """Whether votes are shown as a bar: those of a few annotators are named instead."""
    return not votes.named and not votes.detailed


def unanimous_schemes(items: Mapping[int | None, Items]) -> dict[str, list[tuple[int, Votes]]]:
    """Return the schemes of bars in which every annotator says the same of every labelled turn, with these votes."""
    by_scheme: defaultdict[str, list[tuple[int | None, Votes]]] = defaultdict(list)
    for turn_index, of_turn in items.items():
        for _, shown in of_turn:
            if isinstance(shown, Votes):
                by_scheme[shown.scheme].append((turn_index, shown))
    found = {}
    for scheme, votes in by_scheme.items():
        of_turns = [(at, vote) for at, vote in votes if at is not None and is_bar(vote) and vote.persona_set is None]
        labels = {label for _, vote in votes for label, _ in vote.counts}
        if len(of_turns) == len(votes) and len({at for at, _ in of_turns}) > 1 and len(labels) == 1:
            found[scheme] = of_turns
    return found


def columns_of(items: Mapping[int | None, Items]) -> list[ComparedColumn]:
    """Return the columns of a comparison: the records that have labels, in their order; alike ones share a column."""
    labels: defaultdict[str, dict[int | None, list[Votes]]] = defaultdict(dict)
    for turn_index, of_turn in items.items():
        for record, shown in of_turn:
            if isinstance(shown, Votes):
                labels[record].setdefault(turn_index, []).append(shown)
    columns: list[tuple[dict[int | None, list[Votes]], list[str]]] = []
    for record, votes in labels.items():
        alike = next((records for others, records in columns if others == votes), None)
        if alike is None:
            columns.append((votes, [record]))
        else:
            alike.append(record)
    return [tuple(records) for _, records in columns]


def _subject(votes: Votes) -> tuple[object, ...]:
    return votes.scheme, votes.persona_set, votes.persona_position


def bar_html(counts: Mapping[str, int], scheme: LabelScheme) -> str:
    """Return a bar of label -> count of turns with the counts in words; the bar is hidden from screen readers."""
    return str(_MACROS.bar(counts, scheme, is_of_turns=True))


_TESTS = {"votes": lambda item: isinstance(item, Votes), "shown_as_bar": is_bar}
_CALLED: dict[str, Any] = {"by_content": by_content, "leading": leading, "marked": marked, "when": when, "who": who}
_MACROS = macros(__file__, "talk", tests=_TESTS, CALL=CALL, RESPONSE=RESPONSE, **_CALLED)
