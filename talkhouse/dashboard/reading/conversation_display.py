"""The display that a corpus declares for its conversations: an explanation, a timeline, turns as lines, cards."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from string import Formatter
from typing import Any

import streamlit as st

from talkhouse.charts.declarations import SPEAKER, Line, Timeline, conversations
from talkhouse.charts.query import sql_of_timeline
from talkhouse.dashboard import errors, links, reading
from talkhouse.dashboard.text import html, plain, tag, text
from talkhouse.dashboard.warehouse import ServedWarehouse
from talkhouse.queries.catalogue import BI
from talkhouse.schema.errors import CatalogueError
from talkhouse.schema.sql import literal, quoted

_LONGEST = 2
"""Characters of a card: a letter or a number; anything longer is a word."""


def cards_html(items: str) -> str:
    """Return the items of a text, which a comma separates: letters and numbers as cards, words as they are."""
    return tag("span", "cards", " ".join(map(_card, _items(items))))


def lines_html(turns: Iterable[Mapping[str, Any]], declared: Iterable[Line]) -> dict[int, str]:
    """Return the turns that are drawn as a line: turn_index -> HTML; a text of another pattern is shown as it is."""
    turns, found = list(turns), dict[int, str]()
    for line in declared:
        of_kind = [turn for turn in turns if turn["kind"] == line.kind]
        for turn, groups in zip(of_kind, line.matches([turn["text"] for turn in of_kind]), strict=True):
            if groups is not None:
                found[turn["turn_index"]] = tag("div", "text line", _sentence(line, groups, turn))
    return found


def _sentence(line: Line, groups: Mapping[str, str | None], turn: Mapping[str, Any]) -> str:
    shown = ""
    for words, name, _, _ in Formatter().parse(line.sentence):
        shown += text("say", words)
        if name == SPEAKER:
            shown += text("name", turn["speaker"] or turn["role"])
        elif name is not None:
            items = groups[name] or ""
            shown += cards_html(items) if _items(items) else text("say", line.nothing)
    return shown


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _card(item: str) -> str:
    return text("card" if len(item) <= _LONGEST else "word", item)


Address = Callable[[int], str]
"""Returns the address of a turn."""

_BEST = 1.0
"""The best possible score."""


@dataclass(frozen=True)
class Step:
    """The items that a person holds from a turn on."""

    person: str
    turn_index: int
    state: str
    score: float | None
    before: int | None
    """The turn that came before the change."""
    message: int | None = None
    """The turn that says the change in its own words."""
    overall: float | None = None
    """A number of all people together, after the turn."""
    previous: str | None = None
    """The items that the person held until then; None: unknown."""


def steps_of(opened: ServedWarehouse, declared: Timeline, dialogue_id: str, record_ids: Sequence[str]) -> list[Step]:
    """Return the first items of each person, and each change of them, in the order of turns."""
    columns = [
        f"{quoted(column) if column else 'null'} as {name}"
        for name, column in {
            "person": declared.person,
            "state": declared.state,
            "score": declared.score,
            "before": declared.before,
            "message": declared.message,
            "overall": declared.overall,
        }.items()
    ]
    # By the record too, if there is one: views count within records, so that DuckDB then reads this one alone.
    keys = {"dialogue_id": dialogue_id, **({"record_id": record_ids[0]} if len(record_ids) == 1 else {})}
    rows = opened.rows(
        f"select turn_index, {', '.join(columns)} from {BI}.{quoted(declared.view)} "
        f"where {' and '.join(f'{key} = ${key}' for key in keys)} order by turn_index, person",
        keys,
    )
    held: dict[str, str] = {}
    steps = []
    for row in rows.to_dicts():
        if held.get(row["person"]) != row["state"]:
            steps.append(Step(**row, previous=held.get(row["person"])))
            held[row["person"]] = row["state"]
    return steps


def timeline_html(
    steps: Sequence[Step],
    turns: Iterable[Mapping[str, Any]],
    address: Address,
    here: int | None = None,
    overall_title: str = "",
) -> str:
    """Return a row of steps for each person, and the changes in words; ``here``: the turn that is open."""
    columns = sorted({step.turn_index for step in steps})
    head = tag("th", "corner", "turn", ' scope="col"') + "".join(_turn_head(index, address, here) for index in columns)
    people = dict.fromkeys(step.person for step in steps)
    rows = "".join(
        tag("tr", "person", _row([step for step in steps if step.person == person], columns)) for person in people
    )
    rows += _overall({step.turn_index: step.overall for step in steps}, overall_title)
    table = tag("table", "steps", f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>")
    changes = [step for step in steps if step.previous is not None]
    by_index = {turn["turn_index"]: turn for turn in turns}
    # What scrolls can be reached with the keyboard.
    shown = tag("div", "scroll", table, ' tabindex="0" role="region" aria-label="Steps of each person"')
    if changes:
        items = "".join(_change_item(step, by_index, address) for step in changes)
        shown += tag("ol", "moves", items, ' tabindex="0" aria-label="Changes in the order of turns"')
    return tag("div", "timeline", shown)


def notes_html(steps: Iterable[Step]) -> dict[int, str]:
    """Return the changes that come with each turn, a line each."""
    notes: dict[int, str] = {}
    for step in steps:
        if step.previous is not None:
            line = tag("div", "move", text("name", step.person) + _from_to(step))
            notes[step.turn_index] = notes.get(step.turn_index, "") + line
    return notes


def _turn_head(turn_index: int, address: Address, here: int | None) -> str:
    mark = ' aria-current="true"' if turn_index == here else ""
    return tag("th", "index", _link(turn_index, address), f' scope="col"{mark}')


def _row(steps: Sequence[Step], columns: Sequence[int]) -> str:
    cells = tag("th", "name", html(steps[0].person), ' scope="row" dir="auto"')
    if unknown := columns.index(steps[0].turn_index):
        cells += tag("td", "unknown", "", f' colspan="{unknown}"')
    places = [columns.index(step.turn_index) for step in steps] + [len(columns)]
    for step, (begin, end) in zip(steps, pairwise(places), strict=True):
        kind = "first" if step.previous is None else "step"
        cells += tag("td", kind, _state(step), f' colspan="{end - begin}"')
    return cells


def _overall(by_turn: Mapping[int, float | None], title: str) -> str:
    if not title:
        return ""
    cells = "".join(
        tag("td", "overall", "" if value is None else f"{value:.2f}") for _, value in sorted(by_turn.items())
    )
    return tag("tr", "overall", tag("th", "name", html(title), ' scope="row"') + cells)


def _state(step: Step) -> str:
    best = tag("span", "best", "✓", ' role="img" aria-label="right"') if step.score == _BEST else ""
    return cards_html(step.state) + best


def _change_item(step: Step, turns: Mapping[int, Mapping[str, Any]], address: Address) -> str:
    shown = _link(step.turn_index, address) + text("name", step.person) + _from_to(step)
    if step.message is not None and step.message in turns:
        shown += text("quote", turns[step.message]["text"])
    if step.before is not None and step.before in turns:
        before = turns[step.before]
        shown += text("say", "after") + _link(step.before, address)
        shown += text("name", before["speaker"] or before["role"]) + text("quote", before["text"])
    return tag("li", "move", shown)


def _from_to(step: Step) -> str:
    arrow = tag("span", "arrow", "→", ' role="img" aria-label="becomes"')
    return cards_html(step.previous or "") + arrow + _state(step)


def _link(turn_index: int, address: Address) -> str:
    address_of_turn = html(address(turn_index), lines=False)
    return f'<a class="index" href="{address_of_turn}" aria-label="turn {turn_index}">{turn_index}</a>'


_STYLE = Path(reading.__file__).with_name("timeline.css")


@dataclass(frozen=True)
class DeclaredParts:
    """The declared parts that are drawn among the turns."""

    lines: Mapping[int, str] = field(default_factory=dict)
    """turn_index -> HTML in place of its text."""
    notes: Mapping[int, str] = field(default_factory=dict)
    """turn_index -> HTML below its text."""
    hidden: frozenset[str] = frozenset()
    """Annotation schemes that are not shown turn by turn."""

    def shown(self, records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return records without the labels that are hidden."""
        return [
            {
                **record,
                "annotations": [
                    annotation for annotation in record["annotations"] if annotation["scheme"] not in self.hidden
                ],
            }
            for record in records
        ]


def draw_declared(opened: ServedWarehouse, found: dict[str, Any], address: Address, here: int) -> DeclaredParts:
    """Draw the declared display of a conversation, and return the parts that belong in its turns."""
    try:
        declared = conversations(found["corpus"]["corpus_id"], opened.query_files)
        if declared is None or not found["dialogue"]:
            return DeclaredParts()
        steps = _steps(opened, declared.timeline, found)
    except CatalogueError as error:
        errors.show(str(error), "What the corpus declares about these dialogues can't be shown.")
        return DeclaredParts()
    st.html(_STYLE)
    if declared.explanation:
        st.markdown(plain(declared.explanation.strip(), lines=True))
    if declared.timeline and steps:
        st.markdown(f"**{plain(declared.timeline.title)}**")
        st.html(timeline_html(steps, found["turns"], address, here, declared.timeline.overall_title))
    if declared.hidden:
        names = ", ".join(name.partition(".")[2] for name in declared.hidden)
        # No caption: links in it have too little contrast.
        st.markdown(f":small[Not shown turn by turn: {plain(names)}] {_in_sql(found, declared.hidden)}")
    return DeclaredParts(lines_html(found["turns"], declared.lines), notes_html(steps), frozenset(declared.hidden))


def _in_sql(found: dict[str, Any], schemes: Iterable[str]) -> str:
    """Return a link to a query of the labels of some schemes, as Markdown."""
    named = ", ".join(map(literal, schemes))
    query = (
        "select turn_index, scheme, annotator_id, label, value\nfrom main.annotations\n"
        f"where dialogue_id = {literal(found['dialogue']['dialogue_id'])}\n    and scheme in ({named})\n"
        "order by turn_index, scheme, annotator_index, item_index"
    )
    return f"[:small[In SQL]](<{links.sql(query)}>)"


def _steps(opened: ServedWarehouse, timeline: Timeline | None, found: dict[str, Any]) -> list[Step]:
    if timeline is None:
        return []
    record_ids = [record["record_id"] for record in found["records"]]
    with sql_of_timeline(timeline, opened.query_files):
        return steps_of(opened, timeline, found["dialogue"]["dialogue_id"], record_ids)
