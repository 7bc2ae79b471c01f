"""The examples of the page Errors, dialogue by dialogue: turns around them, the gold answer, the systems' answers."""

from collections.abc import Mapping
from typing import Any

import polars as pl
import streamlit as st

from talkhouse.dashboard import links
from talkhouse.dashboard.examples import ExampleTask, find_task
from talkhouse.dashboard.outcomes import NOTHING, ErrorsState, ShownOutcomes
from talkhouse.dashboard.tables import counted
from talkhouse.dashboard.text import html, style, tag, text, who
from talkhouse.dashboard.warehouse import ServedWarehouse
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.sql_files import sql_of
from talkhouse.scores.outcomes import OutcomeKind

_DIALOGUES = 10
"""Dialogues on a page."""

_EXAMPLES = 20
"""Examples of a dialogue that are shown."""

_BEFORE, _AFTER = 3, 1
"""Turns around an example; of one that is of a whole dialogue, the last ones."""

_LETTERS = 1_000
"""Characters of a text that are shown."""

_STYLE = style(__file__, "outcome_dialogues")


def draw_examples(opened: ServedWarehouse, shown: ShownOutcomes, rows: pl.DataFrame) -> None:
    """Draw a page of the dialogues that have these examples, in the order of the first of them."""
    owner = pl.coalesce("dialogue_id", "record_id").alias("owner")
    owners = rows.select(owner).to_series().unique(maintain_order=True)
    pages = -(-owners.len() // _DIALOGUES)
    st.caption(f"{counted(rows.height, 'example')} in {counted(owners.len(), 'dialogue')}.")
    place = st.container()
    state = ErrorsState.current()
    state = state.shown(page=min(state.page, pages))
    if pages > 1:
        state.draw(st.pagination, "page", pages)
    here = owners.slice((state.page - 1) * _DIALOGUES, _DIALOGUES)
    found = rows.with_columns(owner).filter(pl.col("owner").is_in(here.implode()))
    task = find_task(opened, shown.task)
    parts = found.partition_by("owner", as_dict=True, maintain_order=True)
    talks = [parts[(key,)].sort("turn_index", "example_index", nulls_last=True) for key in here]
    turns = _turns(opened, pl.concat([talk.head(_EXAMPLES) for talk in talks]))
    answers = _Answers(opened, task, found) if shown.kind in (OutcomeKind.RANKING, OutcomeKind.TEXT) else None
    body = "".join(_dialogue(shown, talk, turns.get(talk["owner"][0], {}), answers) for talk in talks)
    place.html(_STYLE + tag("div", "errors", body))


def _turns(opened: ServedWarehouse, examples: pl.DataFrame) -> dict[str, dict[int, dict[str, Any]]]:
    """Return the turns around examples, by dialogue and place."""
    of = examples.filter(pl.col("dialogue_id").is_not_null())
    last = pl.col("turns").cast(pl.Int64).fill_null(0) - 1
    spans = of.select(
        "dialogue_id",
        begin=pl.coalesce(pl.col("turn_index") - _BEFORE, last - _BEFORE),
        end=pl.coalesce(pl.col("turn_index") + _AFTER, last),
    )
    values = {
        "dialogues": spans["dialogue_id"].to_list(),
        "begins": spans["begin"].to_list(),
        "ends": spans["end"].to_list(),
    }
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for turn in opened.rows(sql_of(__file__, "outcome_turns"), values).to_dicts():
        found.setdefault(turn["dialogue_id"], {})[turn["turn_index"]] = turn
    return found


class _Answers:
    """The texts at the positions of candidates, and the gold text: of the examples on one page."""

    def __init__(self, opened: ServedWarehouse, task: ExampleTask, found: pl.DataFrame) -> None:
        names = [column.name for column in task.columns]
        lists = [column.name for column in task.columns if column.type == "VARCHAR[]" and "candidate" in column.name]
        texts = [name for name in lists if not name.endswith(("_ids", "_images"))]
        self._list = texts[0] if texts else None
        self._line = "candidate" if "candidate" in names else None
        records = ", ".join(map(literal, found["record_id"].unique()))
        wanted = [name for name in ("release", "split", "example_index", "gold_position", "label") if name in names]
        columns = [*wanted, *(name for name in (self._list, self._line) if name)]
        rows = opened.rows(
            f"select {', '.join(map(quoted, columns))} from {task.name_in_sql} where record_id in ({records})"
        )
        self._rows = {(row.get("release"), row["split"], row["example_index"]): row for row in rows.to_dicts()}

    def candidate(self, row: Mapping[str, Any], best: int | None) -> str | None:
        """Return the text of a candidate: by its position, or by its own example if each line has one."""
        key = row["release"], row["split"]
        if best is None:
            return None
        if self._list is None:
            return self._rows.get((*key, best), {}).get(self._line) if self._line else None
        texts = self._rows.get((*key, row["example_index"]), {}).get(self._list) or []
        return texts[best] if 0 <= best < len(texts) else None

    def gold(self, row: Mapping[str, Any]) -> str | None:
        """Return the text of the gold candidate."""
        of = self._rows.get((row["release"], row["split"], row["example_index"]), {})
        if self._list is None:
            return of.get(self._line) if self._line else None
        position = of.get("gold_position")
        return self.candidate(row, position) if position is not None else of.get("label")


def _dialogue(
    shown: ShownOutcomes, examples: pl.DataFrame, turns: Mapping[int, Mapping[str, Any]], answers: _Answers | None
) -> str:
    """Return a dialogue: the turns around its examples, and below each the gold answer and those of the systems."""
    rows = examples.head(_EXAMPLES).to_dicts()
    first = rows[0]
    address = links.read(
        first["dialogue_id"], first["turn_index"], record_id=None if first["dialogue_id"] else first["record_id"]
    )
    head = f'<a href="{html(address, lines=False)}" target="_blank" rel="noopener">{html(first["owner"])}</a>'
    places = (first["release"], first["split"], first["subset"], first["language"], first["domain"])
    body = tag("div", "head", head + "".join(text("fact", place) for place in dict.fromkeys(places) if place))
    left = {row["turn_index"]: [other for other in rows if other["turn_index"] == row["turn_index"]] for row in rows}
    previous = None
    for index, turn in turns.items():
        if previous is not None and index > previous + 1:
            body += tag("div", "gap", "⋯")
        previous = index
        here = left.pop(index, [])
        speech = tag("div", "text", who(turn["role"], turn["speaker"], turn["kind"]) + _text(turn["text"]))
        body += tag("div", "turn" if here else "turn around", tag("span", "index", str(index)) + speech)
        body += "".join(_example(shown, row, answers) for row in here)
    body += "".join(_example(shown, row, answers) for those in left.values() for row in those)
    if examples.height > _EXAMPLES:
        body += tag("div", "gap", f"{examples.height - _EXAMPLES:,} more in this dialogue")
    return tag("section", "dialogue", body)


def _example(shown: ShownOutcomes, row: Mapping[str, Any], answers: _Answers | None) -> str:
    """Return the gold answer of an example, and those of the systems, marked right or wrong."""
    is_ranking = shown.kind is OutcomeKind.RANKING
    gold = answers.gold(row) if answers is not None and is_ranking else row["gold"]
    lines = _answer("gold", "gold", "" if is_ranking and gold is None else _text(gold))
    for name, side in zip(shown.names, shown.sides, strict=True):
        notes = []
        if row[f"{side}_rank"] is not None:
            notes.append(f"gold at rank {row[f'{side}_rank']:g} of {row['candidates']:,}")
        if row[f"{side}_f1"] is not None:
            notes.append(f"F1 {row[f'{side}_f1']:.2f}")
        if row[f"{side}_sure"] is not None:
            notes.append(f"sure: {row[f'{side}_sure']:.3g}")
        answer = _text(row[side])
        if answers is not None and is_ranking:
            first = answers.candidate(row, row[f"{side}_best"])
            answer = "" if first is None else f"puts first: {_text(first)}"
        is_right = "right" if row[f"{side}_is_right"] else "wrong"
        lines += _answer(is_right, f"{name} is {is_right}", answer, ", ".join(notes))
    choices: dict[str, str | int] = {"task_split": row["split"], "example": row["example_index"] + 1}
    if row["release"]:
        choices["task_release"] = row["release"]
    address = html(links.tasks(shown.task, **choices), lines=False)
    link = f'<a href="{address}" target="_blank" rel="noopener">Example {row["example_index"] + 1:,}</a>'
    of_split = tag("div", "example", f"{link} of {html(row['split'])}")
    return tag("div", "answers", of_split + lines)


def _answer(kind: str, name: str, content: str, notes: str = "") -> str:
    """Return one answer; ``content`` is HTML."""
    begin = tag("span", "name", html(name)) + (f" ({html(notes)})" if notes else "")
    return tag("div", f"answer {kind}", f"{begin}: {content}" if content else begin)


def _text(value: str | None) -> str:
    """Return a text, truncated if long; a missing text is distinguished from an empty one."""
    if not value:
        return tag("span", "empty", NOTHING if value is None else "empty text")
    return tag("span", "said", html(value[:_LETTERS]) + (" …" if len(value) > _LETTERS else ""), ' dir="auto"')
