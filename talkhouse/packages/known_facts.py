"""What a warehouse knows of a corpus that a datasheet asks for: counts, times, labels, annotators and their agreement.

What is in no table is not here: it is unknown, or in the paper.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from talkhouse.schema.sql import dicts, literal, quoted
from talkhouse.schema.sql_files import sql_of
from talkhouse.warehouse.build_facts import datasheets
from talkhouse.warehouse.opened import Warehouse

_PLACES = 6
"""Sums of floats differ in the last places from one run to the next."""


@dataclass(frozen=True)
class Agreement:
    """How far the annotators of a scheme agree in a publisher's release; units with one annotator do not count."""

    release: str | None
    units: int
    mean_majority_share: float
    """Mean share of a unit's annotators who gave its commonest label, 0 to 1."""
    krippendorff_alpha: float | None
    """For nominal data, or None if a single label occurs."""
    fleiss_kappa: float | None
    """None also where units differ in their number of annotators."""


@dataclass(frozen=True)
class SchemeFacts:
    """A scheme that occurs: what is labelled, and by how many."""

    scheme: str
    description: str
    target: str
    """turn, dialogue, record or persona: what a unit is."""
    units: int
    fewest_annotators: int
    median_annotators: int
    """Of a unit; of two in the middle, the lower."""
    most_annotators: int
    agreement: tuple[Agreement, ...]
    """By publisher's release; empty where annotators cannot be compared."""


@dataclass(frozen=True)
class CorpusFacts:
    """What the tables of a warehouse say of a corpus."""

    corpus_id: str
    title: str
    description: str
    homepage: str
    languages: tuple[str, ...]
    is_sample: bool
    dialogue_count: int
    record_count: int
    turn_count: int
    speaker_count: int
    label_count: int
    quarantined_count: int
    """Records that the files have and that could not be read."""
    timed_turn_count: int
    """Turns with a known time."""
    first_said_at: datetime | None
    last_said_at: datetime | None
    findings: tuple[tuple[str, str, int], ...]
    """Rule, severity and number of what the build has found in its files."""
    schemes: tuple[SchemeFacts, ...]
    datasheet: Mapping[str, Any]
    """What its publisher says of it, by the keys of ``datasheets.QUESTIONS``; empty for a sample, which is not it."""


def known_facts(
    warehouse: Warehouse, corpus_ids: Iterable[str], compared: Collection[str] | None = None
) -> list[CorpusFacts]:
    """Return the facts that a warehouse has on these corpora, in the order of their ids.

    ``compared``: the schemes whose agreement is wanted, which takes longest; None: all.
    """
    ids = sorted(corpus_ids)
    times = {row.pop("corpus_id"): row for row in _rows(warehouse, "facts_times", ids)}
    findings = defaultdict[str, list[tuple[str, str, int]]](list)
    for row in _rows(warehouse, "facts_findings", ids):
        findings[row["corpus_id"]].append((row["rule"], row["severity"], row["findings"]))
    schemes = _schemes(warehouse, ids, compared)
    sheets = datasheets(warehouse.con, warehouse.database)
    no_times = {"timed_turn_count": 0, "first_said_at": None, "last_said_at": None}
    return [
        CorpusFacts(
            **{**row, "languages": tuple(row["languages"].split())},
            **times.get(row["corpus_id"], no_times),
            findings=tuple(findings[row["corpus_id"]]),
            schemes=tuple(schemes[row["corpus_id"]]),
            datasheet={} if row["is_sample"] else sheets.get(row["corpus_id"], {}),
        )
        for row in _rows(warehouse, "facts_corpora", ids)
    ]


def _schemes(
    warehouse: Warehouse, ids: list[str], compared: Collection[str] | None
) -> defaultdict[str, list[SchemeFacts]]:
    names = [row["scheme"] for row in _rows(warehouse, "facts_names", ids)]
    schemes = defaultdict[str, list[SchemeFacts]](list)
    # Names written out: DuckDB then reads the labels of these schemes alone, which takes a third of the time.
    listed = ", ".join(map(literal, names)) or "null"
    for row in dicts(warehouse.con.execute(_written(warehouse, "facts_schemes", schemes=listed))):
        corpus_id, scheme = row.pop("corpus_id"), row["scheme"]
        is_compared = row["most_annotators"] > 1 and (compared is None or scheme in compared)
        schemes[corpus_id].append(SchemeFacts(**row, agreement=_agreement(warehouse, scheme) if is_compared else ()))
    return schemes


def _agreement(warehouse: Warehouse, scheme: str) -> tuple[Agreement, ...]:
    query = _written(warehouse, "facts_agreement", scheme=literal(scheme))
    return tuple(Agreement(**row) for row in dicts(warehouse.con.execute(query)))


def _rows(warehouse: Warehouse, name: str, ids: list[str]) -> list[dict[str, Any]]:
    return dicts(warehouse.con.execute(_written(warehouse, name), {"ids": ids}))


def _written(warehouse: Warehouse, name: str, **fragments: str) -> str:
    return sql_of(__file__, name, db=quoted(warehouse.database), places=_PLACES, **fragments)
