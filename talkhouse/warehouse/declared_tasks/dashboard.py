"""The dashboard of a declared corpus: charts over views that all corpora share."""

from collections.abc import Iterator
from typing import Any, TypeAlias

from talkhouse.ingest.declared.declaration.model import Annotations, Declaration
from talkhouse.ingest.declared.declaration.writing import toml_text
from talkhouse.schema.sql import literal
from talkhouse.warehouse.declared_tasks.sentences import one_line

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
    rest = {"metrics": ["row_count"], "by": ["split"], "stacked": True, "where": "is_first_in_split"}
    bins = "Bins of {} {}, named by their lower end; empty ones are left out."
    yield {"title": "Turns by role", "kind": "bar", "view": "record_turns", "x": "role", **rest}
    yield {
        "title": "Dialogues by number of turns",
        "description": bins.format(5, "turns"),
        "kind": "bar",
        "view": "record_dialogues",
        "x": "turn_count_bin",
        **rest,
    }
    yield {
        "title": "Messages by number of words",
        "description": bins.format(10, "words")
        + " Other turns than messages, such as calls of functions, are left out.",
        "kind": "bar",
        "view": "record_turns",
        "x": "word_count_bin",
        **rest,
        "where": "kind = 'message' and is_first_in_split",
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
    schemes = {given.scheme: given for given in declaration.annotations}
    if not schemes:
        return
    yield {
        "title": "Labels by scheme",
        "description": "Of all releases and splits.",
        "kind": "table",
        "view": "schemes",
        "by": ["scheme", "target", "description"],
        "metrics": ["unit_count", "vote_count"],
    }
    for given in list(schemes.values())[:_MOST]:
        yield _labels(declaration, given)
    if any(map(_has_several_annotators, schemes.values())):
        yield {
            "title": "Agreement of the annotators",
            "description": "Where two or more annotators give a thing one label each; of whole releases.",
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


def _labels(declaration: Declaration, given: Annotations) -> _Table:
    """Return the chart of a scheme's labels; those of a file of labels belong to no split."""
    is_span = given.start is not None
    chart: _Table = {
        "title": f"Labels of {given.scheme}",
        "kind": "bar",
        "view": "spans" if is_span else "label_counts",
        "where": f"scheme = {literal(declaration.scheme(given.scheme))}",
        "x": "label",
        "metrics": ["span_count" if is_span else "vote_count"],
        "largest_first": True,
        "limit": 30,
    }
    if given.from_file is None:
        return chart | {"by": ["split"], "stacked": True}
    return chart | {"description": "Of all splits: the labels are in a file of their own, which belongs to none."}


def _has_several_annotators(given: Annotations) -> bool:
    return given.start is None and (len(given.columns) > 1 or given.annotator is not None or given.by is not None)
