"""Who holds what when, person by person: steps along the turns, and each change with its words and those before it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from talkhouse.charts.conversations import Timeline
from talkhouse.dashboard.reading.cards import cards_html
from talkhouse.dashboard.reading.markup import tag, text
from talkhouse.dashboard.text import html
from talkhouse.dashboard.warehouse import Warehouse
from talkhouse.queries.catalogue import BI
from talkhouse.schema.sql import quoted

Address = Callable[[int], str]
"""Gives the address of a turn."""

_BEST = 1.0
"""The score of what can't be better."""


@dataclass(frozen=True)
class Step:
    """What a person holds from a turn on."""

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
    """What the person held until then; None: nothing is known."""


def steps_of(opened: Warehouse, declared: Timeline, dialogue_id: str, record_ids: Sequence[str]) -> list[Step]:
    """Return what each person holds first, and each change of it, in the order of turns."""
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
    # By the record too, where there is one: views count within records, so that DuckDB then reads this one alone.
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
    said = {turn["turn_index"]: turn for turn in turns}
    # What scrolls can be reached with the keyboard.
    shown = tag("div", "scroll", table, ' tabindex="0" role="region" aria-label="Steps of each person"')
    if changes:
        items = "".join(_change_item(step, said, address) for step in changes)
        shown += tag("ol", "moves", items, ' tabindex="0" aria-label="Changes in the order of turns"')
    return tag("div", "timeline", shown)


def notes_html(steps: Iterable[Step]) -> dict[int, str]:
    """Return by turn which changes come with it, in a line each."""
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


def _change_item(step: Step, said: Mapping[int, Mapping[str, Any]], address: Address) -> str:
    shown = _link(step.turn_index, address) + text("name", step.person) + _from_to(step)
    if step.message is not None and step.message in said:
        shown += text("quote", said[step.message]["text"])
    if step.before is not None and step.before in said:
        before = said[step.before]
        shown += text("say", "after") + _link(step.before, address)
        shown += text("name", before["speaker"] or before["role"]) + text("quote", before["text"])
    return tag("li", "move", shown)


def _from_to(step: Step) -> str:
    arrow = tag("span", "arrow", "→", ' role="img" aria-label="becomes"')
    return cards_html(step.previous or "") + arrow + _state(step)


def _link(turn_index: int, address: Address) -> str:
    address_of_turn = html(address(turn_index), lines=False)
    return f'<a class="index" href="{address_of_turn}" aria-label="turn {turn_index}">{turn_index}</a>'
