"""The published files by name and folder, the format of an episode, and what the publisher calls things."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from msgspec import UNSET, Raw, Struct, UnsetType, ValidationError

from talkhouse.ingest.decode import decoder
from talkhouse.ingest.outcomes import SourceLocation
from talkhouse.ingest.sources import SourceFile

T = TypeVar("T")

CORPUS = "blended_skill_talk"

SPLITS: dict[str, str | None] = {"train": "train", "valid": "validation", "test": "test"}

MODELS = ("convai2", "empathetic_dialogues", "wizard_of_wikipedia")
"""The data sets that contexts come from, and at the same time the models that suggest what to say."""

WORKERS = ("free", "guided")
"""The two workers, as the flag in ``dialog`` numbers them; the free one speaks first."""

SEEDS = 2
"""Seed utterances before the dialogue: turns 0 and 1, so that the dialogue's first turn is turn 2."""

SUGGESTIONS = "suggestion"
LABELS = "label"
"""The candidate sets of an episode."""

CHOSEN = f"{CORPUS}.chosen_suggestion"


class Episode(Struct, forbid_unknown_fields=True):
    """One dialogue, as published; lists that go turn by turn hold raw items."""

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


CARRIED = ("suggestion_orders", "workers", "bad_workers", "acceptability_violations", "hit_ids", "assignment_ids")
"""Fields that are kept as they are; ParlAI reads none of them."""


class SourceTurn(NamedTuple):
    """One turn: who said it by the flag (as JSON), what, and the whole item where it is no pair."""

    flag: bytes
    text: str
    item: Raw | None = None


@dataclass
class ParsedEpisode:
    """An episode whose turns are read."""

    episode: Episode
    unknown: dict[str, Raw]
    fields: list[str]
    turns: list[SourceTurn] = field(default_factory=list)
    suggestions: list[dict[str, str]] = field(default_factory=list)
    """By turn: the models' texts in published order; empty for the free worker's turns."""
    chosen: list[str] = field(default_factory=list)
    chosen_texts: list[str] = field(default_factory=list)
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
        return None if context is UNSET else decoded_as(str, context)


def decoded_as(kind: type[T], piece: Raw) -> T | None:
    """Decode a piece; None where it is of another type."""
    try:
        value: T = decoder(kind).decode(piece)
    except ValidationError:
        return None
    return value


EPISODES = "episodes"
PERSONA_LIST = "persona_list"
TOPICS = "topic_to_persona_list"
SAFE_PERSONAS = "safe_personas"
ED = "ed_persona_topicifier"
HUMAN_ANNOTATIONS = "human_annotations"
CONVAI2 = "convai2"
WIZARD = "wizard_of_wikipedia"
"""The subsets, one for each kind of file."""

_EPISODES = re.compile(r"(train|valid|test)\.json")
_ED = re.compile(r"ed_persona_topicifier__(train|valid|test)__(both_sides|experiencer_only)\.json")
_CONVAI2 = re.compile(r"(train|valid)_self_original\.txt")
_WIZARD = re.compile(r"(?:(train)|(valid|test)_(random_split|topic_split))\.json")
_OTHERS = {
    "persona_list.txt": PERSONA_LIST,
    "personas_list.txt": PERSONA_LIST,
    "topic_to_persona_list.txt": TOPICS,
    "safe_personas.txt": SAFE_PERSONAS,
    "safe_personas_2.txt": SAFE_PERSONAS,
    "human_annotations.json": HUMAN_ANNOTATIONS,
}
"""Names on disk; the publisher's server has two of the files under other names."""


def location_of(file: SourceFile) -> SourceLocation | None:
    """Return a file's location with its subset, split and variant; None where the corpus has no such file."""
    folders = {part.lower() for part in file.path.parts[1:-1]}
    subset, split, release = _OTHERS.get(file.name), None, None
    if WIZARD in folders:
        match = _WIZARD.fullmatch(file.name)
        subset, split, release = (WIZARD, match[1] or match[2], match[3]) if match else (None, None, None)
    elif CONVAI2 in folders:
        match = _CONVAI2.fullmatch(file.name)
        subset, split = (CONVAI2, match[1]) if match else (None, None)
    elif match := _EPISODES.fullmatch(file.name):
        subset, split = EPISODES, match[1]
    elif match := _ED.fullmatch(file.name):
        subset, split, release = ED, match[1], match[2]
    elif subset == HUMAN_ANNOTATIONS:
        split = "valid"
    return SourceLocation(file, subset=subset, release=release, split=split, size=file.size) if subset else None
