"""A conversation as people said it, as HTML: each turn on its speaker's side, with its labels, lists and parts."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from talkhouse.dashboard.content.notes import notes_html
from talkhouse.dashboard.reading.conversation_display import DeclaredParts
from talkhouse.dashboard.text import html, marked, tag, text, when, who
from talkhouse.dialogues.schemes import UNDECLARED, BarPart, LabelScheme, Schemes
from talkhouse.dialogues.turns import (
    CALL,
    RESPONSE,
    DialogueTurn,
    Item,
    ItemList,
    Items,
    Labelled,
    MessagePart,
    TurnPart,
    Votes,
    by_content,
    leading,
    readable,
)
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
    columns = columns_of(every) if reading.compare else []
    page = _Page(reading, columns, speaker_looks(found))
    unanimous = unanimous_schemes(every)
    turns = [replace(turn, items=_without(turn.items, unanimous)) for turn in dialogue.turns]
    shown = [*dialogue.whole, *(item for turn in turns for item in turn.items)]
    votes = [item for _, item in shown if isinstance(item, Votes)]
    body = legend_html(votes, reading.schemes)
    body += "".join(_unanimous(same, len(turns), reading.schemes) for same in unanimous.values())
    on_whole = notes_html(reading.notes.get(None, ()))
    if whole := votes_html(dialogue.whole, reading.schemes) + lists_html(dialogue.whole) + on_whole:
        body += tag("div", "whole", whole)
    body += columns_head(columns) if columns else ""
    body += "".join(_turn(turn, page) for turn in turns)
    kind = "talk" if len({vote.name for vote in votes if is_bar(vote)}) > 1 else "talk sole"
    style = f' style="--columns:{len(columns)}"' if columns else ""
    return tag("div", f"{kind} compared" if columns else kind, body, style)


class _Page(NamedTuple):
    """The settings that all turns of a conversation share."""

    reading: DialogueReading
    columns: list[ComparedColumn]
    looks: dict[str, str]


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


def _turn(turn: DialogueTurn, page: _Page) -> str:
    index, row, beside = turn.turn_index, turn.row, _beside(turn, page)
    if row is None:
        missing = tag("div", "index", str(index)) + tag("div", "said", tag("div", "text empty", "no turn"))
        return tag("div", "turn", missing + beside)
    matches = page.reading.matches.get(index, [])
    body = tag("div", "text", marked(turn.text, matches, turn.spans), ' dir="auto"')
    if not turn.text:
        body = "" if turn.parts else tag("div", "text empty", "says nothing")
    declared = page.reading.declared
    body = declared.lines.get(index, body) + declared.notes.get(index, "")
    inside = tag("div", "said", _head(turn, row) + body + "".join(map(_turn_part, turn.parts)))
    look, attributes = page.looks[speaker_key(row)], f' id="turn-{index}"'
    attributes += f' style="--level:{turn.indent}"' if turn.indent else ""
    if index == page.reading.turn:
        look, attributes = f"{look} here", f'{attributes} tabindex="-1" aria-current="true"'
    return tag("div", f"turn {look}", _index(index, page, has_text=bool(turn.text)) + inside + beside, attributes)


def _index(turn_index: int, page: _Page, *, has_text: bool) -> str:
    if page.reading.address is None:
        return tag("div", "index", str(turn_index))
    address = html(page.reading.address(turn_index), lines=False)
    number = f'<a href="{address}" title="Address of this turn">{turn_index}</a>'
    if page.reading.like is not None and has_text:
        like = html(page.reading.like(turn_index), lines=False)
        about = f"Texts like turn {turn_index}"
        number += f'<a class="like" href="{like}" title="{about}" aria-label="{about}">\N{ALMOST EQUAL TO}</a>'
    return tag("div", "index", number)


def _head(turn: DialogueTurn, row: Mapping[str, Any]) -> str:
    rival = f" ({turn.rival})" if turn.rival else ""
    reply = "" if row["reply_to"] is None else text("reply", f"\N{LEFTWARDS ARROW WITH HOOK} {row['reply_to']}{rival}")
    recorded = text("when", turn.in_recording) if turn.in_recording else ""
    return tag("div", "head", who(row["role"], turn.speaker, row["kind"]) + reply + when(row["said_at"]) + recorded)


def _beside(turn: DialogueTurn, page: _Page) -> str:
    items = turn.items
    if page.columns:
        votes = compared_html(items, page.columns, page.reading.schemes)
    else:
        votes = votes_html(items, page.reading.schemes)
    lists = lists_html(items) + notes_html(page.reading.notes.get(turn.turn_index, ()))
    return (tag("div", "beside", votes) if votes else "") + (tag("div", "below", lists) if lists else "")


def bar_html(counts: Mapping[str, int], scheme: LabelScheme, *, is_of_turns: bool = False) -> str:
    """Return a bar of label -> count with the counts in words; the bar alone is hidden from screen readers.

    Counts of turns, rather than of votes on one, have no majority and no tie.
    """
    parts, total = scheme.bar(counts), sum(counts.values())
    pieces = words = ""
    for part in parts:
        most = " most" if part.is_majority and not is_of_turns else ""
        style = f' style="flex-grow:{part.count};background:{part.colour}"'
        title = html(f"{part.label}: {part.count:,} of {total:,}", lines=False)
        pieces += tag("span", f"piece{most}", "", f'{style} title="{title}"')
        words += tag("span", f"vote{most}", _count(part, is_most=bool(most)))
    is_tie = not is_of_turns and sum(part.is_majority for part in parts) > 1
    tie = text("tie", "tie") if is_tie else ""
    return tag("span", "bar", pieces, ' aria-hidden="true"') + tag("span", "counts", words + tie)


def _count(part: BarPart, *, is_most: bool) -> str:
    meaning = html(part.meaning, lines=False)
    name = tag("span", "label", html(part.label or '""', lines=False), f' dir="auto" title="{meaning}"')
    return f"{name} {part.count:,}{tag('span', 'unseen', ' (the majority)') if is_most else ''} "


def is_bar(votes: Votes) -> bool:
    """Whether votes are shown as a bar: those of a few annotators are named instead."""
    return not votes.named and not votes.detailed


def legend_html(votes: Iterable[Votes], schemes: Schemes) -> str:
    """Return the legend of the bars: for each scheme the labels that occur."""
    used: dict[str, set[str]] = {}
    for vote in votes:
        if is_bar(vote):
            used.setdefault(vote.scheme, set()).update(label for label, _ in vote.counts)
    return "".join(_scheme(name, labels, schemes.get(name, UNDECLARED)) for name, labels in sorted(used.items()))


def _scheme(name: str, labels: set[str], scheme: LabelScheme) -> str:
    items = "".join(tag("li", "entry", _entry(label, scheme)) for label in scheme.in_order(labels))
    return tag("div", "legend", text("name", name.partition(".")[2]) + tag("ul", "entries", items))


def _entry(label: str, scheme: LabelScheme) -> str:
    swatch = tag("span", "swatch", "", f' style="background:{scheme.colour(label)}" aria-hidden="true"')
    meaning = scheme.labels.get(label)
    return swatch + text("label", label) + (" " + text("meaning", meaning) if meaning else "")


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


def _without(items: Items, schemes: Collection[str]) -> Items:
    return [(record, item) for record, item in items if not (isinstance(item, Votes) and item.scheme in schemes)]


def _unanimous(votes: Sequence[tuple[int, Votes]], turn_count: int, schemes: Schemes) -> str:
    """Return a line with the label that all annotators give every labelled turn, which then needs no bar at each."""
    first = votes[0][1]
    scheme, label = schemes.get(first.scheme, UNDECLARED), first.counts[0][0]
    turns = sorted({at for at, _ in votes})
    where = "every turn" if len(turns) == turn_count else f"every labelled turn ({', '.join(map(str, turns))})"
    fewest, most = (which(vote.annotators for _, vote in votes) for which in (min, max))
    who = f"all {most:,} annotators" if fewest == most else f"all annotators ({fewest:,} to {most:,})"
    meaning = text("meaning", scheme.labels[label]) if scheme.labels.get(label) else ""
    answer = tag("span", "entry", f"{text('label', label)} {meaning}".rstrip())
    return tag("div", "legend", text("name", first.name) + answer + text("by", f"by {who}, at {where}"))


def votes_html(items: Items, schemes: Schemes) -> str:
    """Return the labels, scheme by scheme; those that several records share are shown once, with their names."""
    return "".join(
        tag(
            "div",
            "votes barred" if is_bar(shown) else "votes one" if len(shown.named) == 1 else "votes",
            _heading(shown.name, records) + labels_html(shown, schemes),
        )
        for shown, records in by_content(items)
        if isinstance(shown, Votes)
    )


def lists_html(items: Items) -> str:
    """Return the lists of personas and candidates: the first and the gold items, and all of them at a click."""
    return "".join(
        tag("div", "list", _list(shown, records)) for shown, records in by_content(items) if isinstance(shown, ItemList)
    )


def _heading(name: str, records: list[str]) -> str:
    return tag("div", "heading", text("name", name) + "".join(text("record", record) for record in records if record))


def _turn_part(part: TurnPart) -> str:
    head = text("kind", part.kind) + (text("name", part.name) if part.name else "")
    head += text("address", part.address) if part.address else ""
    content = (
        tag("div", "content", html(part.content), ' dir="auto" tabindex="0"')
        if part.content or part.kind == CALL
        else ""
    )
    if part.other_turn is not None:
        arrow = "\N{LEFTWARDS ARROW}" if part.kind == RESPONSE else "\N{RIGHTWARDS ARROW}"
        response = text("said", part.response) if part.response is not None else ""
        content += tag("div", "response", text("reply", f"{arrow} {part.other_turn}") + response)
    return tag("div", "part", head + content)


def labels_html(votes: Votes, schemes: Schemes) -> str:
    """Return the labels: each with its span and facts, or by annotator if these are few, or as a bar."""
    scheme = schemes.get(votes.scheme, UNDECLARED)
    if votes.detailed:
        return tag("div", "details", "".join(_detailed(label, scheme) for label in votes.detailed))
    if votes.named:
        answers = (_answer(name, labels, scheme) for name, labels in votes.named)
        return tag("div", "answers", "".join(answers))
    return bar_html(dict(votes.counts), scheme)


def _answer(name: str, labels: tuple[str, ...], scheme: LabelScheme) -> str:
    shown = "".join(_label(label, scheme) for label in labels)
    return tag("div", "answer", shown + (text("annotator", name) if name else ""))


def _detailed(labelled: Labelled, scheme: LabelScheme) -> str:
    """Return a label with the words of its span, its facts from the corpus, and its annotator."""
    shown = _label(labelled.label, scheme)
    shown += text("span", labelled.words) if labelled.span else ""
    shown += "".join(text("name", name) + text("value", value) for name, value in labelled.facts)
    return tag("div", "detail", shown + (text("annotator", labelled.annotator) if labelled.annotator else ""))


def _label(label: str, scheme: LabelScheme) -> str:
    meaning = html(scheme.labels.get(label, ""), lines=False)
    return tag("span", "label", html(label, lines=False), f' dir="auto" title="{meaning}"')


def _list(shown: ItemList, records: list[str]) -> str:
    owner = f" of {shown.owner}" if shown.owner else ""
    heading = _heading(f"{shown.kind} {shown.name}{owner}: {shown.summary}", records)
    few = tag("div", "items few", "".join(map(_item, shown.shown)))
    if len(shown.shown) == len(shown.items):
        return heading + few
    every = tag("div", "items", "".join(map(_item, shown.items)))
    return f"{heading}<details><summary>Show all {len(shown.items):,}</summary>{every}</details>{few}"


def _item(item: Item) -> str:
    star = tag("span", "star", "★", ' title="gold"') if item.is_gold else ""
    parts = tag("span", "or", "/").join(map(_part, item.parts))
    return tag("div", "item gold" if item.is_gold else "item", tag("span", "index", str(item.position)) + star + parts)


def _part(part: MessagePart) -> str:
    picture = text("picture", part.image_file) if part.image_file else ""
    return text("said", part.text) + picture + (text("record", part.source) if part.source else "")


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


def compared_html(items: Items, columns: Sequence[ComparedColumn], schemes: Schemes) -> str:
    """Return the labels of a turn, a column for each publication; another majority than the first one's is marked."""
    by_column = {column[0]: [shown for name, shown in items if name == column[0]] for column in columns}
    first = {_subject(shown): leading(shown.counts) for shown in by_column[columns[0][0]] if isinstance(shown, Votes)}
    return "".join(
        tag("div", "column", "".join(_cell(shown, first, schemes) for shown in votes if isinstance(shown, Votes)))
        for votes in by_column.values()
    )


def _cell(votes: Votes, first: Mapping[tuple[object, ...], tuple[str, ...]], schemes: Schemes) -> str:
    before, now = first.get(_subject(votes), ()), leading(votes.counts)
    is_changed = bool(before) and set(before) != set(now)
    change = text("change", f"{' or '.join(before)} \N{RIGHTWARDS ARROW} {' or '.join(now)}") if is_changed else ""
    kind = "votes barred changed" if is_changed else "votes barred"
    return tag("div", kind, tag("div", "heading", text("name", votes.name)) + labels_html(votes, schemes) + change)


def _subject(votes: Votes) -> tuple[object, ...]:
    return votes.scheme, votes.persona_set, votes.persona_position


def columns_head(columns: Sequence[ComparedColumn]) -> str:
    """Return the names of the columns."""
    names = "".join(tag("div", "column", "".join(text("record", name) for name in column)) for column in columns)
    return tag("div", "turn columns", tag("div", "beside", names))
