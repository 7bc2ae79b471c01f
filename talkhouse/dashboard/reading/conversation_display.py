"""The display that a corpus declares for its conversations: an explanation, a timeline, turns as lines, cards."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Formatter
from typing import Any

import streamlit as st

from talkhouse.charts.declarations import SPEAKER, Line, Timeline, conversations
from talkhouse.charts.query import sql_of_timeline
from talkhouse.dashboard import errors, links, reading
from talkhouse.dashboard.text import macros, plain
from talkhouse.dashboard.warehouse import ServedWarehouse
from talkhouse.queries.catalogue import BI
from talkhouse.schema.errors import CatalogueError
from talkhouse.schema.sql import literal, quoted

_LONGEST = 2
"""Characters of a card: a letter or a number; anything longer is a word."""


def lines_html(turns: Iterable[Mapping[str, Any]], declared: Iterable[Line]) -> dict[int, str]:
    """Return the turns that are drawn as a line: turn_index -> HTML; a text of another pattern is shown as it is."""
    turns, found = list(turns), dict[int, str]()
    for line in declared:
        of_kind = [turn for turn in turns if turn["kind"] == line.kind]
        for turn, groups in zip(of_kind, line.matches([turn["text"] for turn in of_kind]), strict=True):
            if groups is not None:
                found[turn["turn_index"]] = str(_MACROS.sentence(line, groups, turn))
    return found


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
    people = [[step for step in steps if step.person == name] for name in dict.fromkeys(step.person for step in steps)]
    overall = [value for _, value in sorted({step.turn_index: step.overall for step in steps}.items())]
    changes = [step for step in steps if step.previous is not None]
    columns, by_index = sorted({step.turn_index for step in steps}), {turn["turn_index"]: turn for turn in turns}
    return str(_MACROS.timeline(people, columns, overall, overall_title, changes, by_index, address, here))


def notes_html(steps: Iterable[Step]) -> dict[int, str]:
    """Return the changes that come with each turn, a line each."""
    notes: dict[int, str] = {}
    for step in steps:
        if step.previous is not None:
            notes[step.turn_index] = notes.get(step.turn_index, "") + str(_MACROS.note(step))
    return notes


def _split(items: str | None) -> list[str]:
    return [item.strip() for item in (items or "").split(",") if item.strip()]


def _parts(sentence: str) -> list[tuple[str, str | None]]:
    """Return the words of a sentence, each with the name of the group that follows it."""
    return [(words, name) for words, name, _, _ in Formatter().parse(sentence)]


_MACROS = macros(
    __file__, "timeline", filters={"split": _split, "parts": _parts}, LONGEST=_LONGEST, SPEAKER=SPEAKER, BEST=_BEST
)

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
