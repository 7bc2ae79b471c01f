"""The format of an episode, and what it is when its turns are read."""

from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ingest import decode


class Episode(Struct, forbid_unknown_fields=True):
    """One conversation, as published; lists that go turn by turn hold raw items."""

    personas: list[list[str]]
    context_dataset: str
    free_turker_utterance: str
    guided_turker_utterance: str
    dialog: list[Raw]
    suggestions: list[Raw]
    chosen_suggestions: list[Raw]
    additional_context: Raw | UnsetType = UNSET
    label_candidates: list[list[str]] | UnsetType = UNSET
    chosen_suggestion_texts: Raw | UnsetType = UNSET
    suggestion_orders: Raw | UnsetType = UNSET
    workers: Raw | UnsetType = UNSET
    bad_workers: Raw | UnsetType = UNSET
    acceptability_violations: Raw | UnsetType = UNSET
    hit_ids: Raw | UnsetType = UNSET
    assignment_ids: Raw | UnsetType = UNSET


CARRIED = (
    "suggestion_orders",
    "workers",
    "bad_workers",
    "acceptability_violations",
    "hit_ids",
    "assignment_ids",
)
"""Fields that are kept as they are; ParlAI reads none of them."""


class Lengths(Struct):
    """The three lists that the reference code holds against each other before anything else."""

    dialog: list[Raw] | UnsetType = UNSET
    suggestions: list[Raw] | UnsetType = UNSET
    chosen_suggestions: list[Raw] | UnsetType = UNSET


class Said(NamedTuple):
    """One turn: who said it by the flag (as JSON), what, and the whole item where it is no pair."""

    flag: bytes
    text: str
    item: Raw | None = None


@dataclass
class Talk:
    """An episode whose turns are read."""

    episode: Episode
    unknown: dict[str, Raw]
    turns: list[Said]
    suggestions: list[dict[str, str]]
    """By turn: the models' texts in published order; empty for the free worker's turns."""
    chosen: list[str]
    chosen_texts: list[str]
    fields: list[str]
    carried: dict[str, Raw] = field(default_factory=dict)
    differs: dict[str, Raw] = field(default_factory=dict)
    """What the tables would not give back, by pointer."""

    @property
    def entries(self) -> int:
        """How many examples the reference code makes of it."""
        return len(self.turns) // 2

    @property
    def topic(self) -> str | None:
        """The additional context, where it is a text."""
        context = self.episode.additional_context
        return None if context is UNSET else text_of(context)


def text_of(piece: Raw) -> str | None:
    """Decode a JSON text; None where the piece is something else."""
    try:
        text: str = decode.decoder(str).decode(piece)
    except msgspec.ValidationError:
        return None
    return text
