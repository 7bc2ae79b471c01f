"""Workers' labels of a persona element and a message: from the element to annotations, and back."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.mpchat.format import CORPUS, PersonaElement
from talkhouse.ingest.rows import Annotation

ENTAILMENT = f"{CORPUS}.entailment"
OVERALL = f"{CORPUS}.entailment_overall"


class Label(NamedTuple):
    """A worker's vote, or what all votes come to, by the columns of main.annotations."""

    scheme: str
    annotator_index: int
    annotator_id: str | None
    label: str
    value: float | None = None
    extra: str | None = None


def labels_of(element: PersonaElement) -> tuple[Label, ...]:
    """List the votes on an element, and the label that came of them."""
    return tuple(_labels(element))


def _labels(element: PersonaElement) -> Iterator[Label]:
    votes = element.label_per_worker
    for index, (worker, vote) in enumerate(votes if isinstance(votes, list) else ()):
        name, extra = (worker, None) if isinstance(worker, str) else (None, decode.dump({"worker": worker}))
        yield Label(ENTAILMENT, index, name, msgspec.json.encode(vote).decode(), _number(vote), extra)
    if isinstance(element.label_overall, str):
        yield Label(OVERALL, 0, None, element.label_overall)


def _number(vote: float | bool | None) -> float | None:
    """Return a vote as a number; None for one that is too great for a double: its label has it all the same."""
    try:
        return None if vote is None else float(vote)
    except OverflowError:
        return None


def label_fields(annotations: Iterable[Annotation]) -> dict[str, Any]:
    """Return the two fields of an element as they were published."""
    votes, overall = [], None
    for row in annotations:
        if row.scheme == OVERALL:
            overall = row.label
        else:
            worker = row.annotator_id if row.extra is None else msgspec.json.decode(row.extra)["worker"]
            votes.append([worker, Raw((row.label or "null").encode())])
    return {"label_overall": overall, "label_per_worker": votes}
