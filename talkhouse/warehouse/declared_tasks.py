"""The tasks of a declaration as SQL files written from templates, and the dashboard of its corpus."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, TypeAlias

from talkhouse.ingest.declared.declaration.model import Annotations, Declaration, DeclaredTask
from talkhouse.ingest.declared.declaration.toml_text import toml_text
from talkhouse.queries.files import Files, QueryFile, own_files
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

_MOST = 20
"""Schemes that have charts of their own; a table has all of them."""

_COUNTS = {
    "Dialogues": ("record_dialogues", "dialogue_count"),
    "Turns": ("record_turns", "turn_count"),
    "Labels": ("subsets", "label_count"),
    "Examples": ("subsets", "example_count"),
}


def dashboard_text(declaration: Declaration) -> str:
    """Write the dashboard: sizes, roles and lengths; each scheme; the tasks, where there are any."""
    title = one_line(declaration.title) or declaration.corpus_id
    charts = [*_sizes(), *_talks(), *_tasks(declaration), *_schemes(declaration)]
    of_corpus = f"corpus_id = {literal(declaration.corpus_id)}"
    for chart in charts:
        chart["where"] = " and ".join([of_corpus, *([chart["where"]] if "where" in chart else [])])
    filters = [_choice(name, of_corpus) for name in ("Release", "Split")]
    description = " ".join(
        [one_line(declaration.description), "In charts by split, a dialogue counts once in each that has it."]
    )
    return toml_text({"title": title, "description": description.strip(), "filters": filters, "charts": charts})


def _choice(title: str, where: str) -> _Table:
    return {"title": title, "column": title.lower(), "view": "subsets", "where": where}


def _sizes() -> Iterator[_Table]:
    for title, (view, metric) in _COUNTS.items():
        yield {"title": title, "kind": "number", "view": view, "metrics": [metric], "width": 3}


def _talks() -> Iterator[_Table]:
    rest = {"by": ["split"], "stacked": True, "where": "is_first_in_split"}
    bins = "Bins of {} {}, named by their lower end; empty ones are left out."
    yield {
        "title": "Turns by role",
        "kind": "bar",
        "view": "record_turns",
        "x": "role",
        "metrics": ["turn_count"],
        **rest,
    }
    yield {
        "title": "Dialogues by number of turns",
        "description": bins.format(5, "turns"),
        "kind": "bar",
        "view": "record_dialogues",
        "x": "turn_count_bin",
        "metrics": ["dialogue_count"],
        **rest,
    }
    yield {
        "title": "Messages by number of words",
        "description": bins.format(10, "words")
        + " Other turns than messages, such as calls of functions, are left out, and languages that are written without"
        " spaces, such as Japanese.",
        "kind": "bar",
        "view": "record_turns",
        "x": "word_count_bin",
        "metrics": ["message_count"],
        **rest,
        "where": "kind = 'message' and has_spaces and is_first_in_split",
    }


def _tasks(declaration: Declaration) -> Iterator[_Table]:
    if declaration.tasks:
        yield {
            "title": "Examples of each task by split",
            "kind": "bar",
            "view": "split_publications",
            "x": "task",
            "by": ["split"],
            "metrics": ["example_count"],
            "stacked": True,
            "horizontal": True,
        }
    if any(task.kind in ("turn_label", "dialogue_label") for task in declaration.tasks):
        yield {
            "title": "Labels of examples",
            "description": "The label that most annotators give; an example without one has no row.",
            "kind": "table",
            "view": "example_labels",
            "by": ["task", "split", "label"],
            "metrics": ["labelled_count"],
        }


def _schemes(declaration: Declaration) -> Iterator[_Table]:
    schemes = {entry.scheme: entry for entry in declaration.annotations}
    if not schemes:
        return
    yield {
        "title": "Labels by scheme",
        "description": "Of all of the publisher's releases and splits.",
        "kind": "table",
        "view": "schemes",
        "by": ["scheme", "target", "description"],
        "metrics": ["unit_count", "vote_count"],
    }
    for entry in list(schemes.values())[:_MOST]:
        yield _labels(declaration, entry)
    if any(map(_has_several_annotators, schemes.values())):
        yield {
            "title": "Agreement of the annotators",
            "description": "Where two or more annotators give a thing one label each; of whole publisher's releases.",
            "kind": "table",
            "view": "scheme_agreement",
            "by": ["scheme", "release"],
            "metrics": ["krippendorff_alpha", "mean_majority_share", "unit_count"],
        }
        yield {
            "title": "The 25 things with most disagreement",
            "kind": "table",
            "view": "turn_agreement",
            "by": ["scheme", "record_id", "turn_index"],
            "metrics": ["entropy"],
            "largest_first": True,
            "limit": 25,
        }


def _labels(declaration: Declaration, entry: Annotations) -> _Table:
    """Return the chart of a scheme's labels; those of a file of labels belong to no split."""
    is_span = entry.start is not None
    chart: _Table = {
        "title": f"Labels of {entry.scheme}",
        "kind": "bar",
        "view": "spans" if is_span else "label_counts",
        "where": f"scheme = {literal(declaration.scheme(entry.scheme))}",
        "x": "label",
        "metrics": ["span_count" if is_span else "vote_count"],
        "largest_first": True,
        "limit": 30,
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
