"""The tasks of a declaration as SQL files written from templates, and the dashboard of its corpus."""

import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, TypeAlias

from talkhouse.ingest.declared.declaration.model import Annotations, Declaration, DeclaredChart, DeclaredTask
from talkhouse.ingest.declared.declaration.toml_text import toml_text
from talkhouse.ingest.files.skipped import DECLARATION
from talkhouse.queries.files import Files, QueryFile, own_files
from talkhouse.queries.foreign_sql import parse
from talkhouse.schema.errors import CatalogueError
from talkhouse.schema.sql import literal


def sentence(declaration: Declaration, task: DeclaredTask) -> str:
    """Return the task's description as one line, or else what its kind says of it, with a full stop at the end."""
    text = one_line(task.description) or one_line(f"{declaration.title}, {_what(declaration, task)}")
    return text if text.endswith(".") else f"{text}."


def one_line(text: str) -> str:
    """Return a text without line ends, whatever Unicode takes for one."""
    return " ".join(text.split())


def _what(declaration: Declaration, task: DeclaredTask) -> str:
    before = _BEFORE[task.context or declaration.context]
    match task.kind:
        case "next_turn":
            who = "that has one before it" if task.role is None else f"of the role {task.role}"
            return f"the next turn: each turn {who}, with {before}"
        case "turn_label":
            return f"labels of turns: each turn that has a label of {task.scheme}, with {before}"
        case "dialogue_label":
            return f"labels of dialogues: each dialogue that has a label of {task.scheme}, with all its turns"
        case "spans":
            return f"spans: each turn in which words are labelled by {task.scheme}"
        case "preference" if declaration.preference.answers is None:
            return "preference: each record with a chosen and a rejected answer, with all turns before them"
        case "preference":
            return "preference: each answer that is the best with each that is not, with all turns before them"


_Table: TypeAlias = dict[str, Any]
"""A filter or a chart, as ``talkhouse.charts.declared`` reads it."""

_MOST_BARS = 30
"""Labels of a scheme that its chart has; as many that are declared stand in their order."""

_LARGEST = {"largest_first": True}

_MOST = 20
"""Schemes that have charts of their own; a table has all of them."""

_NUMBERS = 4
"""Numbers at the top of the page; charts of one's own follow."""

_GRAINS = {"day": [2, 31], "week": [3, 156], "month": [37, 1_200]}
"""Units of a chart over time, each with the fewest and most of them that it is for: three weeks are in days."""

_MOST_OVER_TIME = 4
"""Schemes of dialogues whose labels are drawn over time."""

_LABELS = "Labels of {scheme}"


def dashboard_text(declaration: Declaration) -> str:
    """Write the dashboard: sizes, times, speakers and lengths; each scheme; the tasks; the charts of one's own."""
    title = one_line(declaration.title) or declaration.corpus_id
    generated = [each for chart in _shared(declaration) for each in _of_each_scheme(chart, declaration)]
    charts = [each for chart in generated for each in _of_each_grain(chart)]
    charts[_NUMBERS:_NUMBERS] = _of_ones_own(declaration, {chart["title"] for chart in charts})
    of_corpus = f"corpus_id = {literal(declaration.corpus_id)}"
    for chart in charts:
        chart["where"] = " and ".join([of_corpus, *([chart["where"]] if chart.get("where") else [])])
    filters = [
        {"title": name, "column": name.lower(), "view": "subsets", "where": of_corpus} for name in ("Release", "Split")
    ]
    description = " ".join(
        [one_line(declaration.description), "In charts by split, a dialogue counts once in each that has it."]
    )
    return toml_text({"title": title, "description": description.strip(), "filters": filters, "charts": charts})


def _shared(declaration: Declaration) -> list[_Table]:
    """Return the charts of every corpus that has what they are about."""
    has = {
        "tasks": bool(declaration.tasks),
        "label tasks": any(task.kind in ("turn_label", "dialogue_label") for task in declaration.tasks),
        "schemes": bool(declaration.annotations),
        "several annotators": any(map(_has_several_annotators, declaration.annotations)),
    }
    charts = tomllib.loads((_TEMPLATES / "dashboard.toml").read_text(encoding="utf-8"))["charts"]
    return [chart for chart in charts if has.get(chart.pop("only", ""), True)]


def _of_each_scheme(chart: _Table, declaration: Declaration) -> Iterator[_Table]:
    """Yield a chart, or one whose title names a scheme once for each of the first."""
    schemes = list({entry.scheme: entry for entry in declaration.annotations}.values())
    if chart["title"] == _LABELS:
        yield from (_labels(declaration, entry) for entry in schemes[:_MOST])
    elif "{scheme}" in chart["title"]:
        for entry in [entry for entry in schemes if entry.on == "dialogue"][:_MOST_OVER_TIME]:
            full = declaration.scheme(entry.scheme)
            where = f"{chart['where']} and scheme = {literal(full)}"
            title = chart["title"].replace("{scheme}", entry.scheme)
            yield chart | {"title": title, "scheme": full, "where": where}
    else:
        yield chart


def _of_ones_own(declaration: Declaration, titles: Collection[str]) -> Iterator[_Table]:
    """Yield the charts that the declaration has; CatalogueError for a title that another has, or no condition.

    A condition stands in brackets: one that closes them would reach other corpora.
    """
    taken = {*titles}
    for chart in declaration.charts:
        values = dict(chart.values)
        if values["title"] in taken:
            raise _broken(declaration, chart, "another chart of the page has the title", "a title of its own")
        taken.add(values["title"])
        if where := values.get("where"):
            tree = parse(f"select * from t where {where}")
            if tree["error"] or len(tree["statements"]) != 1:
                raise _broken(declaration, chart, f"{where:.200}", "a condition of SQL, such as: turn_count > 2")
            values["where"] = f"(\n{where}\n)"
        yield values


def _broken(declaration: Declaration, chart: DeclaredChart, found: str, expected: str) -> CatalogueError:
    return CatalogueError(
        f"the chart '{one_line(chart.values['title'])}' can't be drawn",
        where=f"{declaration.place}:{chart.line}",
        expected=expected,
        found=found,
        next_step="fix the file",
    )


def _of_each_grain(chart: _Table) -> Iterator[_Table]:
    """Yield a chart, or one over a time that has no grain once for each."""
    if chart.get("x") not in ("started_at", "said_at") or "grain" in chart:
        yield chart
        return
    for grain, needed in _GRAINS.items():
        title = chart["title"].replace("{grain}", grain)
        yield chart | {"title": title, "grain": grain, "needs": {**chart.get("needs", {}), chart["x"]: needed}}


def _labels(declaration: Declaration, entry: Annotations) -> _Table:
    """Return the chart of a scheme's labels; those of a file of labels belong to no split."""
    is_span = entry.start is not None
    chart: _Table = {
        "title": _LABELS.replace("{scheme}", entry.scheme),
        "kind": "bar",
        "view": "spans" if is_span else "label_counts",
        "where": f"scheme = {literal(declaration.scheme(entry.scheme))}",
        "x": "label",
        "metrics": ["span_count" if is_span else "vote_count"],
        "limit": _MOST_BARS,
        **({"along": list(entry.labels)} if entry.labels and len(entry.labels) <= _MOST_BARS else _LARGEST),
    }
    if entry.from_file is None:
        return chart | {"by": ["split"], "stacked": True}
    return chart | {"description": "Of all splits: the labels are in a file of their own, which belongs to none."}


def _has_several_annotators(entry: Annotations) -> bool:
    return entry.start is None and (len(entry.columns) > 1 or entry.annotator is not None or entry.by is not None)


_TEMPLATES = Path(__file__).parent / "declared_tasks"

_SUBFOLDERS = {"view": "", "examples": "examples/", "scores": "scores/"}
"""What each task has a file of, and where that lies."""

_LIKE = {("dialogue_label", "scores"): "turn_label"}
"""Where the template of another kind of task serves: what is labelled makes no difference to a score."""

_REMARK = "no metric is official: the task comes from corpus.toml"


def task_files(declaration: Declaration) -> Files:
    """Return the view, the examples and the scores of each task, and the corpus's dashboard.

    What the declaration says stands in them as SQL literals, as text after ``--``, and as TOML strings; corpora, tasks
    and schemes have names, which reading it has checked.
    """
    corpus_id = declaration.corpus_id
    texts = dict(_texts(declaration))
    texts[f"bi/dashboards/{_dashboard_name(corpus_id)}.toml"] = dashboard_text(declaration)
    if declaration.charts:  # for messages to name their lines
        texts[DECLARATION] = declaration.text
    return tuple(QueryFile(corpus_id, name, text, Path(declaration.place, name)) for name, text in texts.items())


def _texts(declaration: Declaration) -> Iterator[tuple[str, str]]:
    for task in declaration.tasks:
        values = _values(declaration, task)
        for part, subfolder in _SUBFOLDERS.items():
            kind = _LIKE.get((task.kind, part), task.kind)
            yield f"{subfolder}{task.name}.sql", _template(f"{kind}/{part}").substitute(values)


def _values(declaration: Declaration, task: DeclaredTask) -> dict[str, str]:
    """Return the replacement of each placeholder: SQL, but for the lines of the head."""
    corpus_id = declaration.corpus_id
    values = {
        "corpus": literal(corpus_id),
        "task": literal(task.name),
        "dialogues": literal(f"{corpus_id}:"),
        "records": literal(f"{corpus_id}/"),
        "sentence": sentence(declaration, task),
        "remark": _REMARK,
        "is_wanted": "turns.turn_index > 0" if task.role is None else f"turns.role = {literal(task.role)}",
    }
    if task.scheme is not None:
        scheme = declaration.scheme(task.scheme)
        values["scheme"] = literal(scheme)
        values["scheme_name"] = one_line(scheme)
        values["known_labels"] = f"\n-- scheme: {one_line(scheme)}" if _is_closed(declaration, task.scheme) else ""
        values["given"] = _template("given").substitute(values).rstrip("\n")
    values |= _context(declaration, task)
    return values | {name: _template(name).substitute(values).rstrip("\n") for name in ("talks", "pairs")}


_BEFORE = {
    "replies": "the turns that it answers, up to the first message",
    "turns": "all turns before it",
    None: "all turns before it, or in a tree those that it answers",
}
"""What a context has, by what is said of it."""


def _context(declaration: Declaration, task: DeclaredTask) -> dict[str, str]:
    """Return the replacements of the placeholders of a context; all turns need no ``paths``."""
    context = task.context or declaration.context
    is_said = context == "replies" or task.context is not None
    values = {
        "before": _BEFORE[context],
        "context_head": f"\n-- context: {context}" if is_said else "",
        "takes_path": "paths.is_tree" if context is None else "true",
    }
    values["paths"] = "" if context == "turns" else _template("paths").substitute(values).rstrip("\n")
    for items in ("texts", "roles"):
        before = f"talks.{items}[1:examples.turn_index]"
        path = f"list_transform(paths.path, lambda place: talks.{items}[place + 1])"
        values[f"context_{items}"] = before if context == "turns" else f"coalesce({path}, {before})"
    return values


def _is_closed(declaration: Declaration, scheme: str) -> bool:
    """Whether a scheme has no other labels than those that are declared."""
    return any(entry.scheme == scheme and entry.labels is not None for entry in declaration.annotations)


def _dashboard_name(corpus_id: str) -> str:
    """Return the name of a corpus's dashboard, which is none of those of all corpora."""
    taken = {file.stem for file in own_files() if file.kind.endswith("dashboards")}
    return f"{corpus_id}_charts" if corpus_id in taken else corpus_id


@cache
def _template(name: str) -> Template:
    return Template((_TEMPLATES / f"{name}.sql").read_text(encoding="utf-8"))
