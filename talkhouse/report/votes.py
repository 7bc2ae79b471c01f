"""Labels and how often each was given: a bar of one line, in the labels' colours."""

from dataclasses import dataclass
from typing import Any

import duckdb

from talkhouse.charts.colours import PLAIN, label_colours
from talkhouse.schema.sql import dicts

_MOST_LABELS = len(PLAIN)
"""Labels of which each has a colour of its own."""

_COUNTS = """
select
    label_counts.corpus_id,
    label_counts.scheme,
    label_counts.release,
    schemes.description,
    schemes.target,
    label_counts.label,
    sum(label_counts.vote_count)::bigint as vote_count,
from bi.label_counts
inner join main.schemes using (scheme)
where label_counts.is_default
group by all
order by label_counts.scheme, label_counts.release
"""

_SCHEMES = """
select scheme, scale, label, meaning
from main.schemes
left join main.labels using (scheme)
order by scheme, label_index nulls last, label
"""


@dataclass(frozen=True)
class Part:
    """A part of a bar: a label, and how many gave it."""

    label: str
    meaning: str
    count: int
    start: float
    """Where it begins, in percent of the bar."""
    share: float
    """How wide it is, in percent of the bar."""
    colour: str
    is_majority: bool


@dataclass(frozen=True)
class Scheme:
    """What is declared of the labels of a scheme."""

    scale: Any
    meanings: dict[str, str]
    """By label, in their declared order."""


def schemes(con: duckdb.DuckDBPyConnection) -> dict[str, Scheme]:
    """Return what is declared of the labels of each scheme."""
    known: dict[str, Scheme] = {}
    for scheme, scale, label, meaning in con.execute(_SCHEMES).fetchall():
        labels = known.setdefault(scheme, Scheme(scale, {})).meanings
        if label is not None:
            labels[label] = meaning or ""
    return known


def bar(scheme: Scheme, counts: dict[str, int]) -> list[Part]:
    """Return the parts of a bar, in the declared order of the labels; those that are not declared come last."""
    others = sorted(counts.keys() - scheme.meanings.keys(), key=lambda label: (-counts[label], label))
    colours = label_colours([*scheme.meanings, *others], scheme.scale if scheme.meanings else None)
    total, most = sum(counts.values()), max(counts.values())
    parts, start = list[Part](), 0
    for label, colour in colours.items():
        if count := counts.get(label, 0):
            place, share = round(100 * start / total, 3), round(100 * count / total, 3)
            parts.append(Part(label, scheme.meanings.get(label, ""), count, place, share, colour, count == most))
            start += count
    return parts


def given(con: duckdb.DuckDBPyConnection, known: dict[str, Scheme]) -> list[dict[str, Any]]:
    """Return how often each label was given, by scheme and release of the default publication.

    Labels that are too many for a bar are numbers or free texts, and are left out.
    """
    counted: dict[tuple[str, str | None], dict[str, Any]] = {}
    for row in dicts(con.execute(_COUNTS)):
        key = row["scheme"], row["release"]
        counted.setdefault(key, {**row, "counts": {}})["counts"][row["label"] or ""] = row["vote_count"]
    few = [one for one in counted.values() if 1 < len(one["counts"]) <= _MOST_LABELS]
    return [{**one, "parts": bar(known[one["scheme"]], one["counts"])} for one in few]
