"""The published layout: the files by their names, which of them are missing, and the fields of a dialogue.

A dialogue becomes plain dicts and lists, which keep the order of keys and fields that no documentation names. Two
kinds of number stay as they are written: a float is the ``bytes`` of its literal, and so is NaN (``NAN``).
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from msgspec import UNSET, Raw, Struct, UnsetType

from talkhouse.ingest.outcomes import FileEnvelope, ReaderFinding, Unrecognised
from talkhouse.ingest.sources import SourceFile
from talkhouse.ingest.stored_record import StoredRecord

CORPUS = "mantis"

SPLITS = {"train": "train", "dev": "validation", "test": "test"}
"""The publisher's splits, each with its standard name."""

SITES = {
    "apple": 0.3,
    "askubuntu": 0.37,
    "dba": 0.35,
    "diy": 0.0,
    "electronics": 0.06,
    "english": 0.23,
    "gaming": 0.07,
    "gis": 0.35,
    "physics": 0.54,
    "scifi": 0.0,
    "security": 0.28,
    "stats": 0.48,
    "travel": 0.17,
    "worldbuilding": 0.58,
}
"""The sites of the published corpus, which are its categories.

Each with the lowest VADER score that its askers' last words have. The authors' code does not say how it was chosen.
"""

MERGED = "merged"
INTENTS = "intents"
INTENTS_CSV = "intents_csv"
SITE = "site"
CONVERSATIONS = (MERGED, INTENTS, SITE)
RANKING = {"mantis_10": 10, "mantis_50": 50}
"""The two response-ranking subsets, each with its negatives per context."""

MANIFEST = "manifest"
MADE = "made by talkhouse make mantis"
"""What a manifest says of its kind."""

_PATTERNS = {
    "merged_{}.json": MERGED,
    "merged_{}_intents.json": INTENTS,
    "data_{}_easy.tsv": "mantis_10",
    "data_{}.tsv": "mantis_50",
    "data_{}_easy_lookup.txt": "mantis_10_lookup",
    "data_{}_lookup.txt": "mantis_50_lookup",
}


class Role(NamedTuple):
    """What a file is: its subset, and its split where the name says it."""

    subset: str
    split: str | None


_ROLES = {pattern.format(split): Role(subset, split) for pattern, subset in _PATTERNS.items() for split in SPLITS}
_ROLES["manifest.json"] = Role(MANIFEST, None)
_NAMES = {role: name for name, role in _ROLES.items()}


_SITE = re.compile(rf"data(?:_({'|'.join(SPLITS)}))?\.json")
"""What the authors' code writes for each site before it merges them: its splits, and all of it."""


def name(part: Role) -> str:
    """Return the name that the publisher gives to a file of one split."""
    return _NAMES[part]


def role(name: str) -> Role | None:
    """Return the role of a file by its name; every .csv may be the table of intents, which its header decides."""
    if found := _SITE.fullmatch(name):
        return Role(SITE, found[1])
    return Role(INTENTS_CSV, None) if name.endswith(".csv") else _ROLES.get(name)


def missing_files(parts: Mapping[Role, SourceFile]) -> Iterator[ReaderFinding]:
    """Name every missing file, with the file that it belongs to."""
    for subset in (MERGED, INTENTS, *RANKING):
        there = [split for split in SPLITS if Role(subset, split) in parts]
        for split in (split for split in SPLITS if there and split not in there):
            yield _finding(parts[Role(subset, there[0])], Role(subset, split), f"{split} has none of its rows")
    for part, file in parts.items():
        if part.subset in RANKING:
            yield from _beside_ranking(part, file, parts)
        elif (subset := part.subset.removesuffix("_lookup")) in RANKING and Role(subset, part.split) not in parts:
            yield _finding(file, Role(subset, part.split), "its keys belong to no row; they are kept as they are")


def _beside_ranking(part: Role, file: SourceFile, parts: Mapping[Role, SourceFile]) -> Iterator[ReaderFinding]:
    """Name what a TSV lacks: the conversations, and the keys of its rows."""
    lookup = Role(f"{part.subset}_lookup", part.split)
    if lookup not in parts:
        meaning = "nothing says which dialogue a row belongs to; contexts and candidates are kept by themselves"
        yield _finding(file, lookup, meaning)
    if not any(Role(subset, part.split) in parts for subset in (MERGED, INTENTS)):
        meaning = "contexts and candidates are kept by themselves, without turns, people and times"
        yield _finding(file, Role(MERGED, part.split), meaning)


def _finding(file: SourceFile, lacking: Role, meaning: str) -> ReaderFinding:
    name = next(name for name, part in _ROLES.items() if part == lacking)
    return ReaderFinding("MA-01", f"{name} is not there: {meaning}", file, severity="warn")


_LONGEST = 10_000_000
"""Bytes of a manifest, at most."""


class Manifest(NamedTuple):
    """What the files say that they were made from."""

    outcome: FileEnvelope | Unrecognised
    sites: frozenset[str]
    """The categories that dialogues may have in addition to those of the published corpus."""


def read_manifest(file: SourceFile) -> Manifest:
    """Read a manifest; its text is kept whole, for writing it back."""
    try:
        text = b"".join(file.chunks()).decode() if file.size < _LONGEST else ""
        described = json.loads(text)
        if described["kind"] == MADE:
            made_from = str(described["made_from"])
            made_from.encode()  # half of a surrogate pair, which JSON can write, is no text
            envelope = FileEnvelope(file, {"text": text}, made_from=made_from)
            return Manifest(envelope, frozenset(described["sites"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return Manifest(Unrecognised(file, "a manifest.json that talkhouse make mantis has not written"), frozenset())


def write_manifest(stored: StoredRecord) -> bytes:
    """Write the manifest back."""
    return str(json.loads(stored.file.extra or "{}")["text"]).encode()


INTENT = f"{CORPUS}.intent"
"""The annotation scheme."""

NAN = b"NaN"
"""What stands for a bare NaN in a decoded dialogue."""

PLACEHOLDER = "<Placeholder Response>"
"""What the authors' code writes for an utterance that has no text left."""

Value: TypeAlias = Any
"""A decoded JSON value, in which ``bytes`` is the literal of a float; UNSET where a field is absent."""


class UtteranceShape(Struct):
    """An utterance; all other fields may be any scalar, or absent."""

    utterance: str
    actor_type: str
    utterance_pos: Raw
    intent: list[str] | UnsetType | None = UNSET


class DialogueShape(Struct):
    """A dialogue; all other fields may be any scalar, or absent."""

    category: str
    utterances: list[UtteranceShape]


SPOKEN = (
    "utterance",
    "utterance_time",
    "utterance_pos",
    "actor_type",
    "user_name",
    "user_id",
    "votes",
    "id",
    "is_answer",
)
"""The fields of an utterance but for its intents, in the order of the publisher's code."""

FACTS = tuple(name for name in SPOKEN if name not in ("utterance", "actor_type"))
"""The facts that a file states about an utterance other than its words, role and intents."""

DIALOGUE_FIELDS = ("category", "title", "dialog_time", "utterances", "has_concatenated_utterances")
"""The fields of a dialogue but for ``has_intent_labels``, in the order of the publisher's code."""

DIALOGUE_FACTS = tuple(name for name in DIALOGUE_FIELDS if name != "utterances")
KNOWN_FIELDS = frozenset({*DIALOGUE_FIELDS, "has_intent_labels"})


def literal(value: Value) -> str:
    """Write a decoded value as the publisher's code does (Python's json): floats and NaN as they were."""
    if isinstance(value, bytes):
        return value.decode()
    if type(value) is int:
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return json.dumps(value)


def is_storable(value: Value) -> bool:
    """Whether a database takes the value as JSON: no NaN, and no number beyond what a float can be."""
    if isinstance(value, dict):
        return all(map(is_storable, value.values()))
    if isinstance(value, list):
        return all(map(is_storable, value))
    if isinstance(value, bytes):
        return math.isfinite(float(value))
    return not isinstance(value, int) or abs(value) < _LARGEST


_LARGEST = 10**300


def keep(name: str, value: Value, extra: dict[str, Any], literals: dict[str, str]) -> None:
    """Put a value as published into ``extra``, or its text into ``literals`` where no database takes it as JSON."""
    if value is UNSET:
        return
    if is_storable(value):
        extra[name] = Raw(literal(value).encode())
    else:
        literals[name] = literal(value)


def moment(value: Value) -> datetime | None:
    """Read a time, its zone left out; None for what is not a time."""
    try:
        time = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return time if time.tzinfo is None else time.replace(tzinfo=None)


def text_of(time: datetime | None) -> str | None:
    """Write a time as the publisher does."""
    return time.isoformat(timespec="milliseconds") if time else None
