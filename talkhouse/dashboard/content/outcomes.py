"""Errors: where one system or two are wrong, counted, and dialogue by dialogue with what was said before."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from talkhouse.charts.declared import ROWS
from talkhouse.charts.fields import NOTHING, ChartField
from talkhouse.dashboard import links, outcomes, warehouse
from talkhouse.dashboard.examples import find_task, sizes, task_names
from talkhouse.dashboard.outcome_dialogues import draw_examples
from talkhouse.dashboard.outcomes import ALL, ANSWER, DIFFERS, OUTCOME, ErrorsState, OutcomeFacet, ShownOutcomes
from talkhouse.dashboard.tables import counted, table_html
from talkhouse.dashboard.text import plain
from talkhouse.dashboard.warehouse import ServedWarehouse
from talkhouse.escaping import visible
from talkhouse.export.formats import CSV, ExportFormat
from talkhouse.scores.outcomes import OutcomeKind
from talkhouse.scores.saved_runs import comparable

_RUNS, _FILES = "Saved runs", "Files"
_ALONE = "the gold answers alone"


def page() -> None:
    """Draw the source of predictions, how often they are right, and the chosen examples."""
    ErrorsState.current().go()
    st.title("Errors", anchor=False)
    opened = warehouse.current()
    scored = outcomes.from_command()
    sources = [*([outcomes.COMMAND] if scored else []), _RUNS, _FILES]
    source = ErrorsState.choose(st.radio, "of", "Predictions of", sources, sources[0], horizontal=True)
    found: ShownOutcomes | None
    if source == outcomes.COMMAND and scored:
        found, is_older = scored
        if is_older:
            st.warning("There has been a build since these were scored. Stop the command, and score them again.")
    elif source == _FILES:
        found = _of_files(opened)
    else:
        found = _of_runs(opened)
    if found is not None:
        _draw(opened, found, has_links=source != _FILES)


def _of_runs(opened: ServedWarehouse) -> ShownOutcomes | None:
    """Draw the choice of saved runs, and return their outcomes; the newest two that can be compared come first."""
    runs = sorted(outcomes.runs_beside(), key=lambda run: run["saved_at"])
    if not runs:
        st.info(
            "There are no saved runs. Save one with: talkhouse score TASK PREDICTIONS --save RUN. "
            "Or choose Files, and upload predictions."
        )
        return None
    by_name = {run["run"]: run for run in reversed(runs)}
    pairs = ((name, _others(by_name, name)) for name in by_name)
    newest, others = next(((name, others) for name, others in pairs if others), (next(iter(by_name)), []))
    first, second = st.columns(2)
    with first:
        run = _choose_run("run", "Run", list(by_name), others[0] if others else newest)
    options = [*_others(by_name, run), _ALONE]
    with second:
        also = _choose_run("beside", "Beside", options, options[0])
    st.caption(plain(f"{by_name[run]['task']}, saved {by_name[run]['saved_at']:%Y-%m-%d %H:%M} UTC"))
    return outcomes.of_runs(opened, [run] if also == _ALONE else [run, also])


def _choose_run(name: str, title: str, options: list[str], usual: str) -> str:
    """Draw a choice that the address holds even if it is the default: tomorrow that may be another run."""
    run: str = ErrorsState.choose(st.selectbox, name, title, options, usual, is_kept=True, format_func=visible)
    return run


def _others(runs: Mapping[str, dict[str, Any]], name: str) -> list[str]:
    """Return the runs that can be compared with one."""
    return [run for run in runs if run != name and comparable(runs[run]) == comparable(runs[name])]


def _of_files(opened: ServedWarehouse) -> ShownOutcomes | None:
    """Draw the choice of files, and return their outcomes; these last as long as the page is open."""
    scored = {name for query in opened.catalogue.scores for name in (query.full_name, *query.tasks)}
    tasks = [name for name in task_names(opened) if name in scored]
    if not tasks:
        st.info("No task of this warehouse can be scored.")
        return None
    columns = iter(st.columns([2, 1, 1]))
    task = ErrorsState.choose(next(columns).selectbox, "task", "Task", tasks, tasks[0], format_func=visible)
    of = sizes(opened, find_task(opened, task))
    release = _part(columns, "release", "Publisher's release", [size.release for size in of])
    split = _part(columns, "split", "Split", [size.split for size in of])
    files = [
        st.file_uploader(label, key=f"file_{side}", max_upload_size=outcomes.MOST_MEGABYTES)
        for side, label in (("first", "Predictions"), ("second", "Compare with (optional)"))
    ]
    st.caption(
        "They are read as talkhouse score reads them, and not kept: after you have left the page or loaded it anew, "
        "bring them again. Without a column split or release, choose these above."
    )
    if files[0] is None:
        return None
    asked = (task, release, split, *(file and file.file_id for file in files), opened.version)
    known = st.session_state.get("errors.files")
    if known is None or known[0] != asked:
        brought = [(file.name, file.getvalue()) for file in files if file is not None]
        st.session_state.pop("errors.files", None)
        known = asked, outcomes.of_files(brought, task, {"--release": release, "--split": split})
        st.session_state["errors.files"] = known
    found: ShownOutcomes = known[1]
    return found


def _part(columns: Iterator[DeltaGenerator], name: str, title: str, values: Sequence[str | None]) -> str | None:
    options = list(dict.fromkeys(value for value in values if value is not None))
    if len(options) < 2:
        return None
    chosen: str | None = ErrorsState.choose(
        next(columns).selectbox, name, title, options, format_func=visible, placeholder="As the files say"
    )
    return chosen


_RIGHT = {
    OutcomeKind.LABEL: "Right is the gold label",
    OutcomeKind.LABELS: "Right are just the gold labels",
    OutcomeKind.RANKING: "Right is a ranking whose first candidate is the gold one, and no other has its score",
    OutcomeKind.TEXT: "Right is the gold text, but for case, punctuation and articles",
}

_SURE = {
    OutcomeKind.LABEL: "how sure a system is of an answer is its probability or score of that label",
    OutcomeKind.RANKING: "how sure a system is, is how far the score of its first candidate is above the next",
}


def _draw(opened: ServedWarehouse, shown: ShownOutcomes, *, has_links: bool) -> None:
    thresholds = shown.rows["threshold"].unique(maintain_order=True).to_list()
    if len(thresholds) > 1:
        names = {NOTHING if limit is None else f"{limit:g}": limit for limit in thresholds}
        at = ErrorsState.choose(
            st.selectbox, "at", "Threshold of the gold label", [*names], next(iter(names)), width=220
        )
        shown = shown.at(names[at])
    sureness = _SURE.get(shown.kind, "") if shown.has_sure else ""
    if shown.kind in _SURE and not sureness:
        sureness = "how sure a system was is not known: it gave no scores, or was saved before they were kept"
    st.markdown(plain(_counted(shown)))
    st.caption(plain(f"{_RIGHT[shown.kind]}{'; ' + sureness if sureness else ''}."))
    # Above the choices, as it is the answer; drawn after them, as it depends on them.
    place = st.container()
    choices, order = _choose(shown)
    state = ErrorsState.current()
    state.draw_days(opened, [shown.task.partition(".")[0]])
    if (dialogues := state.dialogues(opened)) is not None:
        shown = shown.of(dialogues)
    if shown.rows.is_empty():
        st.info("No example is of a dialogue that begins on these days.")
        return
    with place:
        facets = [*shown.facets[1:], shown.facets[0]]
        titles = [facet.title for facet in facets]
        tabs = ErrorsState.choose(lambda _, options, **how: st.tabs(options, **how), "count", "", titles, titles[0])
        for facet, tab in zip(facets, tabs, strict=True):
            with tab:
                _draw_table(shown, facet, choices, has_links=has_links)
    rows = outcomes.ordered(shown, outcomes.chosen(shown, choices), order)
    st.header("Examples", anchor=False)
    if rows.is_empty():
        st.info("No example matches this choice.")
        return
    draw_examples(opened, shown, rows)
    _draw_file(shown, rows)


def _counted(shown: ShownOutcomes) -> str:
    """Return a sentence on how often each system is right."""
    right = [
        f"{name} is right on {int(shown.rows[f'{side}_is_right'].sum()):,}"
        for name, side in zip(shown.names, shown.sides, strict=True)
    ]
    text = f"Of {counted(shown.rows.height, 'example')}, {' and '.join(right)}"
    if len(shown.names) == 1:
        return f"{text}."
    found = shown.chosen_by[OUTCOME]
    each = ", ".join(f"{value} {int((found == value).sum()):,}" for value in shown.facets[0].values)
    return f"{text}: {each}. They differ on {int(outcomes.differs(shown).sum()):,}."


def _choose(shown: ShownOutcomes) -> tuple[dict[str, str], str]:
    """Draw the choices of examples and of their order; return the facets that are chosen with their values."""
    choices: dict[str, str] = {}
    with st.container(horizontal=True):
        for facet in shown.facets:
            is_outcome = facet.name == OUTCOME
            values = [*facet.values, ALL] if is_outcome else outcomes.counts(shown, facet, {})[facet.name].to_list()
            options = [DIFFERS, *values] if is_outcome and len(shown.names) > 1 else values
            usual = options[0] if is_outcome else None
            value = ErrorsState.choose(
                st.selectbox, facet.name, facet.title, options, usual, placeholder="All", width=_WIDTH
            )
            if value is not None:
                choices[facet.name] = value
        orders = outcomes.orders(shown)
        order = ErrorsState.choose(st.selectbox, "order", "Order", orders, orders[0], width=_WIDTH)
    return choices, order


_WIDTH = 195


_MOST_VALUES = 12
"""Values of a facet that are counted in a table."""


def _draw_table(shown: ShownOutcomes, facet: OutcomeFacet, choices: Mapping[str, str], *, has_links: bool) -> None:
    # Right answers explain no error, so answers are counted within the chosen outcome; other facets over all of them.
    without = {facet.name} if facet.name == ANSWER else {facet.name, OUTCOME}
    found = outcomes.counts(shown, facet, {name: value for name, value in choices.items() if name not in without})
    rows = found.head(_MOST_VALUES)
    if rows.is_empty():
        st.caption("No example matches this choice.")
        return
    names = [] if facet.name == OUTCOME else shown.facets[0].values
    columns = [
        ChartField(facet.name, f"{facet.title}: {' / '.join(shown.names)}" if facet.name == ANSWER else facet.title),
        ChartField("examples", "Examples", ROWS),
        *(ChartField(name, name.capitalize(), ROWS) for name in names),
    ]
    leads = None
    if has_links:
        state = ErrorsState.current()
        leads = [links.errors(**state.chosen(facet.name, value).query()) for value in rows[facet.name]]
    st.html(table_html(f"Examples by {facet.title}", rows, columns, leads))
    if found.height > rows.height:
        st.caption(f"The {rows.height} most frequent of {found.height:,}.")


def _draw_file(shown: ShownOutcomes, rows: pl.DataFrame) -> None:
    """Draw the examples that are chosen as a file."""
    with st.expander("Download", icon=":material/download:"):
        names = [member.value for member in ExportFormat]
        file_format = st.segmented_control(
            "Format", names, default=names[0], required=True, key="outcomes_format", format_func=str.upper
        )
        escape = file_format in CSV and st.checkbox(
            "For spreadsheets: put an apostrophe before texts that look like formulas", key="outcomes_formulas"
        )
        name = re.sub(r"[^\w.+-]", "_", ".".join((shown.task, "errors", *shown.names)))
        st.download_button(
            f"Download {counted(rows.height, 'example')}",
            lambda: outcomes.as_file(rows, file_format, escape_formulas=escape),
            f"{name}.{file_format}",
            "application/octet-stream",
            on_click="ignore",
            type="primary",
            icon=":material/download:",
        )
