"""The published files and what an episode has; episodes are decoded strictly where the reference code would stop."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, ValidationError

from talkhouse.ingest import decode, json_members
from talkhouse.ingest.decode import BadRecord, decoder, pointer
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
    """Decode a piece, or None if it is of another type."""
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
    """Return a file's location with its subset, split and variant, or None if the corpus has no such file."""
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


def parse(raw: bytes) -> ParsedEpisode:
    """Read an episode; raises BadRecord: BS-02 to BS-04, or a common rule."""
    try:
        episode, unknown = decode.record(raw, Episode, rule="BS-03")
    except BadRecord as bad:
        raise BadRecord(_rule(bad), bad.detail, bad.pointer) from bad
    parsed = ParsedEpisode(episode, unknown, decode.keys(raw))
    parsed.turns = [_turn(index, item) for index, item in enumerate(episode.dialog)]
    parsed.suggestions = [_suggested(index, item, parsed) for index, item in enumerate(episode.suggestions)]
    parsed.chosen = [_chosen(index, item, parsed) for index, item in enumerate(episode.chosen_suggestions)]
    parsed.chosen_texts = _chosen_texts(parsed)
    for index, texts in enumerate(parsed.suggestions):
        if texts and list(texts) != list(MODELS):
            parsed.differs.setdefault(pointer("suggestions", index), episode.suggestions[index])
    for name in CARRIED:
        if (value := getattr(episode, name)) is not UNSET:
            parsed.carried[name] = value
    _check(parsed)
    return parsed


_OWN_RULE = {
    "personas": "BS-02",
    "free_turker_utterance": "BS-02",
    "guided_turker_utterance": "BS-02",
    "label_candidates": "BS-04",
}
_MISSING = re.compile(r"missing required field `(\w+)`")


def _rule(bad: BadRecord) -> str:
    """Return the rule of a defect by the field that it is in; the common rules stay."""
    missing = _MISSING.search(bad.detail)
    name = missing[1] if missing else bad.pointer.split("/")[1] if bad.pointer else ""
    return _OWN_RULE.get(name, "BS-03") if bad.rule == "BS-03" else bad.rule


def _turn(index: int, item: Raw) -> SourceTurn:
    """Read a turn; the reference code takes the second item of whatever stands there."""
    try:
        flag, text = decode.decoder(tuple[Raw, str]).decode(item)
        return SourceTurn(bytes(flag), text)
    except msgspec.ValidationError:
        pass
    try:
        parts = decode.decoder(list[Raw]).decode(item)
        text = decode.decoder(str).decode(parts[1])
    except (msgspec.ValidationError, IndexError) as error:
        detail = "a turn is no list with a text at its second place"
        raise BadRecord("BS-03", detail, pointer("dialog", index)) from error
    return SourceTurn(bytes(parts[0]), text, item)


def _suggested(index: int, item: Raw, parsed: ParsedEpisode) -> dict[str, str]:
    """Read the suggestions for a turn of the guided worker; those of the free worker's turns are not read."""
    if index % 2 == 0:
        if bytes(item) != b"{}":
            parsed.differs[pointer("suggestions", index)] = item
        return {}
    at = pointer("suggestions", index)
    try:
        found = decode.decoder(dict[str, Raw]).decode(item)
        _check_keys(item, at)
        texts = {model: decode.decoder(str).decode(found[model]) for model in found if model in MODELS}
    except msgspec.ValidationError as error:
        raise BadRecord("BS-03", f"suggestions are no object of texts: {error}", at) from error
    missing = [model for model in MODELS if model not in texts]
    if missing:
        raise BadRecord("BS-03", f"no suggestion of {', '.join(missing)}", at)
    if len(texts) < len(found):
        parsed.differs[at] = item
    return texts


def _check_keys(item: Raw, at: str) -> None:
    """Raise BadRecord TH-03 where a model suggests twice for one turn: one of the texts would be lost."""
    try:
        json_members.fields(bytes(item))
    except BadRecord as bad:
        raise BadRecord(bad.rule, bad.detail, at) from bad


def _chosen(index: int, item: Raw, parsed: ParsedEpisode) -> str:
    """Read which suggestion was taken; a text, on turns of the guided worker."""
    text = decoded_as(str, item)
    if text is not None:
        return text
    at = pointer("chosen_suggestions", index)
    if index % 2:
        raise BadRecord("BS-03", "the chosen suggestion is no text", at)
    parsed.differs[at] = item
    return ""


def _chosen_texts(parsed: ParsedEpisode) -> list[str]:
    """Read the texts of the taken suggestions, where they go turn by turn; else they are kept whole."""
    published = parsed.episode.chosen_suggestion_texts
    texts = [""] * len(parsed.turns)
    if published is UNSET:
        return texts
    items = decoded_as(list[Raw], published)
    if items is None or len(items) != len(parsed.turns):
        parsed.carried["chosen_suggestion_texts"] = published
        return texts
    for index, item in enumerate(items):
        text = decoded_as(str, item)
        # The free worker's turns have no annotation that could hold a text.
        if text is None or (text and index % 2 == 0 and not parsed.chosen[index]):
            parsed.differs[pointer("chosen_suggestion_texts", index)] = item
        else:
            texts[index] = text
    return texts


def _check(parsed: ParsedEpisode) -> None:
    """Check what the reference code takes for granted."""
    episode = parsed.episode
    if len(episode.personas) < 2:
        raise BadRecord("BS-02", f"{len(episode.personas)} personas, not 2", "/personas")
    if len(episode.personas[1]) < 2:
        detail = f"the guided worker's persona has {len(episode.personas[1])} sentences, not 2"
        raise BadRecord("BS-02", detail, "/personas/1")
    if episode.context_dataset == "wizard_of_wikipedia" and parsed.topic is None:
        raise BadRecord("BS-02", "a context of Wizard of Wikipedia without a topic", "/additional_context")
    if episode.label_candidates is not UNSET and len(episode.label_candidates) < parsed.entries:
        detail = f"{len(episode.label_candidates)} lists of candidates for {parsed.entries} entries"
        raise BadRecord("BS-04", detail, "/label_candidates")
