"""Outcomes of systems for the page Errors: from saved runs, files, or a command; chosen, counted and ordered."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, ClassVar, Self

import duckdb
import polars as pl
import streamlit as st
from pyarrow import lib as pa

from talkhouse.dashboard import warehouse
from talkhouse.dashboard.download import SECONDS, queue_message, run_command
from talkhouse.dashboard.page_state import RangedState
from talkhouse.dashboard.warehouse import ServedWarehouse, Version
from talkhouse.escaping import visible
from talkhouse.export import sandbox
from talkhouse.export.row_stream import QueryRows
from talkhouse.export.writers import write
from talkhouse.schema.errors import QueryFailed
from talkhouse.schema.guard import guard
from talkhouse.scores.outcomes import ONE, TWO, OutcomeKind, outcomes_of_runs
from talkhouse.scores.saved_runs import path_for, saved
from talkhouse.scores.workspace import ScoringWorkspace
from talkhouse.system.files import temporary_folder

COMMAND = "The command"
"""The source of the outcomes that ``give`` was called with."""

NOTHING = "nothing"
"""The answer of a system that gives none."""


OUTCOME, ANSWER = "by_outcome", "by_answer"

_PARTS = ("release", "split", "subset", "language", "domain")
"""Columns by which examples are counted, if they have several values."""

_BINS = [
    ("by_position", "turn_index", (5, 10, 15, 20), "Turn of the dialogue"),
    ("by_length", "characters", (20, 50, 100, 200), "Characters of the turn"),
]


@dataclass(frozen=True)
class ErrorsState(RangedState):
    """The state of the page Errors; an empty field means the default for the data."""

    PAGE: ClassVar[str] = "errors"
    FACETS: ClassVar[tuple[str, ...]] = (OUTCOME, ANSWER, *map("by_{}".format, _PARTS), *(row[0] for row in _BINS))
    ON_THE_SAME_PAGE: ClassVar[frozenset[str]] = frozenset({"page", "count"})

    of: str = ""
    """The source of the predictions."""
    run: str = ""
    beside: str = ""
    task: str = ""
    release: str = ""
    split: str = ""
    at: str = ""
    """The threshold of the gold label."""
    order: str = ""
    count: str = ""
    """The facet by which examples are counted."""

    def changed(self, name: str, value: Any) -> Self:
        """Return the state after a field has changed; other runs have other examples to choose from."""
        state = super().changed(name, value)
        return state.shown(choices={}) if name in ("run", "beside") else state


@dataclass(frozen=True)
class OutcomeFacet:
    """A facet by which examples are chosen and counted."""

    name: str
    """Of its column, and of its parameter in the address."""
    title: str
    values: tuple[str, ...] = ()
    """In their order; empty: the most frequent first."""


@dataclass(frozen=True)
class ShownOutcomes:
    """The outcomes of one system or two."""

    names: tuple[str, ...]
    """Of the systems."""
    rows: pl.DataFrame
    """As ``talkhouse score --outcomes`` writes them."""
    chosen_by: pl.DataFrame
    """Of each row the values of the facets, as people read them."""
    facets: tuple[OutcomeFacet, ...]

    @property
    def kind(self) -> OutcomeKind:
        """The kind of the systems' answers."""
        return OutcomeKind(self.rows["kind"][0])

    @property
    def task(self) -> str:
        """The full name of the task's view."""
        return str(self.rows["task"][0])

    @property
    def has_sure(self) -> bool:
        """Whether the confidence of any answer is known."""
        return any(self.rows[f"{side}_sure"].count() for side in self.sides)

    @property
    def sides(self) -> tuple[str, ...]:
        """The prefixes of the systems' columns."""
        return ("first", "second")[: len(self.names)]

    def at(self, threshold: float | None) -> "ShownOutcomes":
        """Return the outcomes at a threshold of the gold label."""
        return self._only(self.rows["threshold"].eq_missing(pl.Series([threshold], dtype=pl.Float64)))

    def of(self, dialogues: Sequence[str]) -> "ShownOutcomes":
        """Return the outcomes of examples of these dialogues."""
        return self._only(self.rows["dialogue_id"].is_in(dialogues).fill_null(value=False))

    def _only(self, here: pl.Series) -> "ShownOutcomes":
        return ShownOutcomes(self.names, self.rows.filter(here), self.chosen_by.filter(here), self.facets)


def runs_beside() -> list[dict[str, Any]]:
    """Return the saved runs next to the warehouse, comparable ones side by side; raises the errors of ``saved``."""
    return _saved(warehouse.path(), warehouse.version(path_for(warehouse.path())))


@st.cache_data(max_entries=3, show_spinner=False)
def _saved(path: Path, version: Version | None) -> list[dict[str, Any]]:  # noqa: ARG001 - by it are runs known again
    with warehouse.ONE_BESIDE:
        return saved(path, settings=sandbox.settings(memory=warehouse.MEMORY_BESIDE))


def give(rows: pa.Table, names: Sequence[str], scored: Path) -> None:
    """Show outcomes on the page Errors for as long as this process serves the pages; ``scored``: their warehouse."""
    _from_command[:] = [(_shown(rows, names), warehouse.version(scored))]


_from_command: list[tuple[ShownOutcomes, Version | None]] = []


def from_command() -> tuple[ShownOutcomes, bool] | None:
    """Return the outcomes from the command that serves the pages, and whether a build has come since."""
    return (_from_command[0][0], _from_command[0][1] != warehouse.version()) if _from_command else None


def of_runs(opened: ServedWarehouse, names: Sequence[str]) -> ShownOutcomes:
    """Return the outcomes of a saved run, or of two; raises UsageError if they can't be compared."""
    return _of_runs(opened, opened.version, warehouse.version(path_for(opened.version.path)), tuple(names))


@st.cache_resource(max_entries=3, show_spinner="Comparing the predictions")
def _of_runs(
    _opened: ServedWarehouse,
    version: Version,
    scores: Version | None,  # noqa: ARG001 - by the versions of both files are outcomes known again
    names: tuple[str, ...],
) -> ShownOutcomes:
    settings = sandbox.settings(memory=warehouse.MEMORY_BESIDE)
    with warehouse.ONE_BESIDE, _opened.connection() as con, ScoringWorkspace(con) as workspace:
        table = outcomes_of_runs(workspace, version.path, names, settings)
        return _shown(con.sql(f"from {table}").to_arrow_table(), names)


MOST_MEGABYTES = 20
"""Of a file of predictions that is uploaded."""


def of_files(files: Sequence[tuple[str, bytes]], task: str, options: Mapping[str, str | None]) -> ShownOutcomes:
    """Score one file of predictions or two, by a command that then forgets them; QueryFailed with its message.

    ``files``: their names, which are untrusted, with their bytes.
    """
    place = st.empty()
    with temporary_folder() as folder, place.container(horizontal=True, vertical_alignment="center"):
        paths = []
        for side, (given_name, content) in zip(("first", "second"), files, strict=False):
            (folder / side).mkdir()
            paths.append(folder / side / (re.sub(r"[^\w.-]", "_", given_name).lstrip(".")[-100:] or "predictions"))
            paths[-1].write_bytes(content)
        st.button("Stop", key="stop_scoring", icon=":material/stop:")
        line = st.empty()
        output = folder / "outcomes.parquet"
        arguments = [part for option, value in options.items() if value is not None for part in (option, value)]
        beside = ["--beside", str(paths[1])] if len(paths) > 1 else []
        db = ["--db", str(warehouse.path()), "--outcomes", str(output)]
        try:
            run_command(
                ["score", task, str(paths[0]), *beside, *arguments, *db],
                folder,
                seconds=SECONDS,
                waiting=lambda passed: line.caption(f"Scoring: {passed:.0f} s"),
                queued=lambda first: line.caption(queue_message(first)),
            )
        except QueryFailed as error:
            # The message names the file as the user does.
            raise QueryFailed(re.sub(rf"{re.escape(str(folder))}/(first|second)/", "", str(error))) from None
        rows = pl.read_parquet(output).to_arrow()
    place.empty()
    return _shown(rows, [given_name for given_name, _ in files])


DIFFERS, ALL = "they differ", "all"
"""Choices in addition to the outcomes: examples with different answers of two systems, or all."""


def _shown(rows: pa.Table, names: Sequence[str]) -> ShownOutcomes:
    frame = pl.from_arrow(rows)
    assert isinstance(frame, pl.DataFrame)  # noqa: S101 - a table has columns
    seen = [visible(name) for name in names]
    unique = tuple(f"{name} ({place})" if seen.index(name) < place else name for place, name in enumerate(seen))
    kind = OutcomeKind(frame["kind"][0])
    outcomes = {name: name for name in reversed(ONE)}
    if len(unique) > 1:
        outcomes = dict(zip(TWO, (TWO[0], f"only {unique[0]}", f"only {unique[1]}", TWO[3]), strict=True))
    facets = [OutcomeFacet(OUTCOME, "Outcome", tuple(outcomes.values()))]
    columns = [pl.col("outcome").replace(outcomes).alias(OUTCOME)]
    answer, values = _answers(kind, unique)
    facets.append(OutcomeFacet(ANSWER, _ANSWERS[kind], values))
    columns.append(answer.alias(ANSWER))
    for name in _PARTS:
        if frame[name].n_unique() > 1:
            facets.append(OutcomeFacet(f"by_{name}", _TITLES.get(name, name.title())))
            columns.append(pl.col(name).alias(f"by_{name}"))
    for name, source, limits, title in _BINS:
        if frame[source].count():
            labels = _ranges(limits)
            facets.append(OutcomeFacet(name, title, tuple(labels)))
            columns.append(pl.col(source).bin_intervals(limits, labels=labels).cast(pl.String).alias(name))
    chosen_by = frame.select(columns)
    chosen_by = chosen_by.with_columns(_seen(chosen_by[facet.name]) for facet in facets if not facet.values)
    return ShownOutcomes(unique, frame, chosen_by, tuple(facets))


_LABELS = (OutcomeKind.LABEL, OutcomeKind.LABELS)

_ANSWERS = {
    **dict.fromkeys(_LABELS, "Gold → answer"),
    OutcomeKind.RANKING: "Rank of the gold candidate",
    OutcomeKind.TEXT: "Nearness to the gold text",
}

_TITLES = {"release": "Publisher's release"}


def _ranges(limits: Sequence[int]) -> list[str]:
    begins = [0, *limits]
    return [*(f"{begin} to {end - 1}" for begin, end in zip(begins, limits, strict=False)), f"{limits[-1]} or more"]


def _seen(values: pl.Series) -> pl.Series:
    return values.replace({value: visible(value) for value in values.unique() if value is not None})


def _answers(kind: OutcomeKind, names: Sequence[str]) -> tuple[pl.Expr, tuple[str, ...]]:
    """Return the answers of an example in a word, and these words in their order if there is one."""
    sides = ("first", "second")[: len(names)]
    if kind in _LABELS:
        shown = [pl.col(side).fill_null(NOTHING) for side in sides]
        answers = pl.concat_str(shown, separator=" / ")
        return pl.concat_str([pl.col("gold").fill_null(NOTHING), answers], separator=" → "), ()
    if kind is OutcomeKind.RANKING:
        labels = ["1", "up to 5", "up to 10", "above 10"]
        ranks = [
            pl.col(f"{side}_rank")
            .bin_intervals([1, 5, 10], labels=labels, right_closed=True)
            .cast(pl.String)
            .fill_null("not ranked")
            for side in sides
        ]
        return pl.concat_str(ranks, separator=" / "), ()
    if len(names) == 1:
        labels = ["F1 of words 0", "up to 0.25", "up to 0.5", "up to 0.75", "above 0.75"]
        near = pl.col("first_f1").bin_intervals([0, 0.25, 0.5, 0.75], labels=labels, right_closed=True)
        return near.cast(pl.String).fill_null(NOTHING), (*labels, NOTHING)
    values = (f"{names[0]} is nearer", f"{names[1]} is nearer", "both are as near")
    first, second = (pl.col(f"{side}_f1").fill_null(-1) for side in sides)
    near = pl.when(first > second).then(pl.lit(values[0])).when(second > first).then(pl.lit(values[1]))
    return near.otherwise(pl.lit(values[2])), values


def differs(shown: ShownOutcomes) -> pl.Series:
    """Return whether two systems give different answers, for each example."""
    name = "_rank" if shown.kind is OutcomeKind.RANKING else ""
    return ~shown.rows[f"first{name}"].eq_missing(shown.rows[f"second{name}"])


def chosen(shown: ShownOutcomes, choices: Mapping[str, str]) -> pl.Series:
    """Return whether each example has the chosen values of facets."""
    found = pl.Series([True] * shown.rows.height, dtype=pl.Boolean)
    for name, value in choices.items():
        if value == DIFFERS and name == OUTCOME:
            found = found & differs(shown)
        elif value != ALL or name != OUTCOME:
            found = found & shown.chosen_by[name].eq_missing(pl.Series([value]))
    return found


def counts(shown: ShownOutcomes, facet: OutcomeFacet, choices: Mapping[str, str]) -> pl.DataFrame:
    """Return the values of a facet, with the number of chosen examples that have each, in all and by outcome."""
    both = shown.chosen_by.filter(chosen(shown, choices)).filter(pl.col(facet.name).is_not_null())
    outcomes = shown.facets[0].values
    number = [pl.len().alias("examples"), *((pl.col(OUTCOME) == outcome).sum().alias(outcome) for outcome in outcomes)]
    found = both.group_by(facet.name).agg(number)
    if facet.values:
        return found.sort(pl.col(facet.name).replace_strict({value: at for at, value in enumerate(facet.values)}))
    return found.sort("examples", facet.name, descending=[True, False])


SURE, UNSURE, APART, PLACE = "Most sure and wrong", "Least sure", "Farthest apart", "As in the split"


def orders(shown: ShownOutcomes) -> list[str]:
    """Return the orders that examples may have, the first being the usual one."""
    by_sureness = [SURE, UNSURE] if shown.has_sure else []
    return [*by_sureness, PLACE] if shown.kind in _LABELS else [APART, *by_sureness, PLACE]


def ordered(shown: ShownOutcomes, matching: pl.Series, order: str) -> pl.DataFrame:
    """Return the examples that match in an order."""
    rows = shown.rows.filter(matching)
    if order == SURE:
        wrong = [pl.when(~pl.col(f"{side}_is_right")).then(pl.col(f"{side}_sure")) for side in shown.sides]
        key, descending = pl.max_horizontal(wrong), True
    elif order == UNSURE:
        key, descending = pl.min_horizontal(f"{side}_sure" for side in shown.sides), False
    elif order == APART:
        name = "rank" if shown.kind is OutcomeKind.RANKING else "f1"
        near = [pl.col(f"{side}_{name}").cast(pl.Float64) for side in shown.sides]
        key = (near[0] - near[1]).abs() if len(near) > 1 else near[0] if name == "rank" else -near[0]
        descending = True
    else:
        return rows
    return rows.sort(key, descending=descending, nulls_last=True, maintain_order=True)


def as_file(rows: pl.DataFrame, file_format: str, *, escape_formulas: bool) -> bytes:
    """Return rows as a file of an export's format."""
    file = BytesIO()
    with duckdb.connect() as con:
        guard(con)
        con.register("outcomes", rows.to_arrow())
        stream = TextIOWrapper(file, encoding="utf-8", newline="")
        write(QueryRows(con, con.sql("from outcomes")), file_format, stream, escape_formulas=escape_formulas)
        stream.detach()
    return file.getvalue()
