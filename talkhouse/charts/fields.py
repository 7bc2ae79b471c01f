"""The columns of a chart's rows, and what people call them."""

from collections.abc import Mapping
from dataclasses import dataclass

from talkhouse.charts.declared import Chart
from talkhouse.charts.metric import Metric, NumberFormat, metric

_NOT_SAID = ("_id", "_bin", "_index")

_UNITS = {"_percent": "%", "_seconds": "seconds", "_hours": "hours", "_ms": "ms"}
"""Ends of names that say what a value is measured in."""

_TITLES = {
    "annotation_target": "Target of the message",
    "annotation_type": "Type of message",
    "first_solution_type": "Kind of the first solution",
    "fleiss_kappa": "Fleiss' kappa",
    "gap_seconds": "Seconds since the previous turn",
    "homepage": "Home page",
    "krippendorff_alpha": "Krippendorff's alpha",
    "krippendorff_alpha_high": "Krippendorff's alpha, at most",
    "krippendorff_alpha_low": "Krippendorff's alpha, at least",
    "krippendorff_alpha_ordinal": "Krippendorff's alpha, ordinal",
    "known_speaker_name": "Speaker",
    "label_meaning": "What the label means",
    "licence_url": "Address of the licence",
    "load_id": "Build",
    "majority_count": "Votes of the majority",
    "majority_share": "Share of the majority",
    "max_annotator_count": "Most annotators",
    "message_type": "Type of message",
    "mime_type": "MIME type",
    "min_annotator_count": "Fewest annotators",
    "native_id": "Published id",
    "next_gap_seconds": "Seconds until the next turn",
    "record_id_after": "Later record",
    "record_id_before": "Earlier record",
    "release_after": "Later release",
    "release_before": "Earlier release",
    "said_at": "Time",
    "scheme_kind": "Kind of scheme",
    "sha256": "SHA-256",
    "solution_type": "Kind of solution",
    "source_file_id": "File",
    "source_pointer": "Place in the file",
    "speaker_id": "Id of the speaker",
    "speaker_kind": "Kind of speaker",
    "uri": "URI",
    "user_id": "Id of the user",
    "why_not_compared": "Why not compared",
}
"""What people call the columns whose names do not say it."""


@dataclass(frozen=True)
class Field:
    """A column of a chart's rows; ``metric`` is None where the chart groups by it."""

    name: str
    title: str
    metric: Metric | None = None

    @property
    def format(self) -> NumberFormat | None:
        """How its numbers are written; None where it may have texts."""
        return self.metric.format if self.metric else None


def fields(chart: Chart, metrics: Mapping[str, Metric]) -> list[Field]:
    """Return the columns that ``talkhouse.charts.query`` gives for a chart, in its order."""
    aggregates = ((name, metric(name, metrics)) for name in (*chart.metrics, *chart.counts))
    return [
        *(Field(column, along(chart) if column == chart.x else title(column)) for column in chart.columns),
        *(Field(name, aggregate.title, aggregate) for name, aggregate in aggregates),
    ]


def along(chart: Chart) -> str:
    """Return the title of x: a time that is truncated is called by its unit."""
    return chart.grain.capitalize() if chart.grain else title(chart.x)


def title(column: str) -> str:
    """Return a column's name as a title: ``corpus_id`` is Corpus, ``turn_count_bin`` is Number of turns."""
    if column in _TITLES:
        return _TITLES[column]
    for ending in _NOT_SAID:
        column = column.removesuffix(ending)
    column = column.removesuffix("_name") if column.endswith(("speaker_name", "user_name")) else column
    if column.endswith("_count"):
        column = _number_of(column.removesuffix("_count"))
    for ending, unit in _UNITS.items():
        if column.endswith(ending):
            column = f"{column.removesuffix(ending)} ({unit})"
    words = column.removeprefix("is_").replace("_", " ")
    return words[:1].upper() + words[1:]


def _number_of(what: str) -> str:
    """Say what is counted: things, those that are something, or the uses of a label of one letter."""
    if what.endswith("ed"):
        return f"number {what}"
    if len(what) == 1:
        return f"number of {what.upper()}"
    return f"number of {what.removesuffix('y')}ies" if what.endswith("ty") else f"number of {what}s"
