"""Which files there are, by their names, and which are missing.

A file has one split, but for the table of intents, which has all of them.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

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
    """Return what a file is by its name; every .csv may be the table of intents, which its header decides."""
    if found := _SITE.fullmatch(name):
        return Role(SITE, found[1])
    return Role(INTENTS_CSV, None) if name.endswith(".csv") else _ROLES.get(name)


def missing_files(parts: Mapping[Role, SourceFile]) -> Iterator[ReaderFinding]:
    """Name every file that is missing, with the file beside which it is."""
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
    """The categories that dialogues may have beside those of the published corpus."""


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
