"""What is unusual about a persona element: MP-07, MP-09 and MP-12, one note per kind and record."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec import UNSET

from ingest.corpora.mpchat.format import Element
from ingest.outcomes import ReaderFinding

OVERALL = {"(strong) E": 3, "E": 2, "I": 1, "(strong) I": 0}
"""The label of all three workers together, and how many of them see an entailment."""

WORKERS = 3
_SHOWN = 10


class Oddity(NamedTuple):
    """Something unusual about one persona element."""

    rule: str
    what: str
    pointer: str
    id: str


def persona_oddities(element: Element) -> list[tuple[str, str]]:
    """Look at a distinct persona, its times and its file's name; gives rules and what breaks them."""
    found = []
    has_one, has_other = element.created_utc is not UNSET, element.created_utcs is not UNSET
    if has_one == has_other:
        found.append(("MP-07", f"{'both' if has_one else 'neither'} of created_utc and created_utcs"))
    if isinstance(element.direct_url, str):
        last = element.direct_url.rpartition("/")[2]
        if element.file_name != f"{element.id}_{last}":
            found.append(("MP-09", "file_name is not the id, '_' and the last part of direct_url"))
    return found


def label_oddities(element: Element) -> list[tuple[str, str]]:
    """Look at what workers say of an element."""
    if element.label_overall is UNSET and element.label_per_worker is UNSET:
        return []
    return [("MP-07", what) for what in _labels(element)]


def _labels(element: Element) -> Iterator[str]:
    overall, votes = element.label_overall, element.label_per_worker
    if overall not in OVERALL:
        yield f"label_overall {overall!r} is unknown" if isinstance(overall, str) else "no label_overall"
    cast = votes if isinstance(votes, list) else []
    if len(cast) != WORKERS:
        yield f"{len(cast)} workers instead of {WORKERS}"
    elif any(said not in (0, 1) for _, said in cast):
        yield "a vote that is neither 0 nor 1"
    elif isinstance(overall, str) and OVERALL.get(overall, said := sum(said or 0 for _, said in cast)) != said:
        yield f"label_overall {overall} where {said:g} of {WORKERS} workers say 1"


def grouped(oddities: Iterable[Oddity]) -> Iterator[ReaderFinding]:
    """Give one note for each kind of oddity, with the first ids; its pointer is that of the first."""
    kinds: defaultdict[tuple[str, str], list[Oddity]] = defaultdict(list)
    for one in oddities:
        kinds[one.rule, one.what].append(one)
    for (rule, what), some in kinds.items():
        yield ReaderFinding(rule, f"{what}: {listed([one.id for one in some])}", pointer=some[0].pointer)


def listed(values: list[str] | list[int]) -> str:
    """Show the first of many values, and how many there are."""
    shown = ", ".join(map(str, values[:_SHOWN]))
    return shown if len(values) <= _SHOWN else f"{shown} ... ({len(values)} in all)"
