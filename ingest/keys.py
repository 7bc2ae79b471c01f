"""What a build remembers of what it has read, by hashes alone: keys, what was stated before, candidate texts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, TypeAlias, TypeVar

import msgspec

from talkhouse.ingest.rows import CandidateText, Row


def digest(*parts: str | bytes) -> bytes:
    """Hash an ordered list of texts, or of their bytes in UTF-8, to 16 bytes.

    Lengths are hashed too, so that no two lists run together.
    """
    raws = [part if isinstance(part, bytes) else part.encode() for part in parts]
    return blake2b(b"".join([len(raw).to_bytes(8, "big") + raw for raw in raws]), digest_size=16).digest()


def digest_of(raw: bytes | bytearray) -> bytes:
    """Hash one text in UTF-8, as ``digest`` does; for texts by the million."""
    return blake2b(len(raw).to_bytes(8, "big") + raw, digest_size=16).digest()


Entries: TypeAlias = dict[str, Any]
"""A key, and what came first under it."""


@dataclass
class Tally:
    """What is counted of a file for findings about the whole corpus."""

    turns: int = 0
    turns_without_text: int = 0
    first_without_text: str | None = None
    """The pointer of the first of these."""
    messages_left_out: int = 0
    """Messages that are no turns, since they have no text."""
    broken_texts: int = 0
    """Turns whose text or speaker reads as UTF-8 when taken as Latin-1."""
    marks: dict[str, int] = field(default_factory=dict)
    """What looks like a mark of who speaks at the beginning of a line within a turn, with how often."""
    looked_at: int = 0
    """Turns whose ``extra`` was looked into."""
    looked_inside: int = 0
    """The same of turns that are in the ``extra`` of their records."""
    members: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    """Path of a text in ``extra`` -> how often it is there, how many different ones are like a text, the first."""


Tallies: TypeAlias = defaultdict[str, Tally]
"""By the ids of files."""


@dataclass(frozen=True)
class Ledger:
    """Entries of memories, by the name of each."""

    keys: dict[str, Entries] = field(default_factory=lambda: defaultdict(dict))
    """Of those whose answers what is read depends on."""
    rows: dict[str, Entries] = field(default_factory=lambda: defaultdict(dict))
    """Of those that have a row written once, by its table: the row's key, and what else of it is answered."""
    tallies: Tallies = field(default_factory=lambda: defaultdict(Tally))
    """What was counted, which nothing that is read depends on."""

    def __bool__(self) -> bool:
        """Whether there is any entry."""
        return any(self.keys.values()) or any(self.rows.values())

    def add(self, other: "Ledger") -> None:
        """Add what another has beyond this one."""
        for mine, added in ((self.keys, other.keys), (self.rows, other.rows)):
            for name, entries in added.items():
                known = mine[name]
                for key, value in entries.items():
                    known.setdefault(key, value)
        self.tallies.update(other.tallies)

    def beyond(self, other: "Ledger") -> "Ledger":
        """Return the entries that the other lacks; the tallies are shared."""
        left = Ledger(tallies=self.tallies)
        for mine, others, rest in ((self.keys, other.keys, left.keys), (self.rows, other.rows, left.rows)):
            for name, entries in mine.items():
                known = others.get(name, {})
                rest[name] = {key: value for key, value in entries.items() if key not in known}
        return left

    def contested(self, by: "Ledger") -> "Ledger":
        """Return the entries that somebody who has read ``by`` alone would have needed, and did not know of."""
        needed = Ledger()
        for name, entries in by.keys.items():
            needed.keys[name] = {key: self.keys[name][key] for key in entries.keys() & self.keys[name].keys()}
        for name, entries in by.rows.items():
            known = self.rows[name]
            needed.rows[name] = {key: known[key] for key in entries.keys() & known.keys() if known[key] != entries[key]}
        return needed

    def repeated(self, by: "Ledger") -> dict[str, list[str]]:
        """Return the keys of rows that ``by`` has too, by table."""
        both = {table: entries.keys() & self.rows[table].keys() for table, entries in by.rows.items()}
        return {table: sorted(keys) for table, keys in both.items() if keys}


class Memory:
    """What a reader remembers of the files that it has read: first come, first kept.

    Files can be read apart, each with a memory of its own, and are read as if one after the other, as long as none of
    the answers would have been another: a reader that is given what the files before have told under the keys that it
    asks for (the ``seed``) can't tell that it has not read them.
    """

    def __init__(self, seed: Ledger | None = None) -> None:
        """``seed``: None if all files of the corpus are read with this memory."""
        self.is_of_part = seed is not None
        self._seed, self._noted = seed or Ledger(), Ledger()
        self._noted.add(self._seed)

    def keys(self, name: str) -> "Keys":
        """Return the keys of this name."""
        return Keys(self._noted.keys[name])

    def rows(self, table: str) -> Entries:
        """Return the rows of a table that were written; to be filled by the reader."""
        return self._noted.rows[table]

    @property
    def tallies(self) -> Tallies:
        """Return the tallies; to be filled by the reader."""
        return self._noted.tallies

    def ledger(self) -> Ledger:
        """Return the entries that are not in the seed."""
        return self._noted.beyond(self._seed) if self._seed else self._noted


class Keys:
    """Natural keys that were assigned, with a hash of the content behind each; texts are not kept."""

    def __init__(self, content: dict[str, bytes] | None = None) -> None:
        self._content: dict[str, bytes] = {} if content is None else content

    def assign(self, natural: str, content: bytes, beside: bytes = b"") -> tuple[str, bool]:
        """Return the key of this content, and whether it is new; ``beside`` is kept with it, and not compared.

        The first content under a natural key keeps it plain; another gets ``~`` and 8 hex digits of its hash,
        or more where these 8 are taken.
        """
        key, digits = natural, 8
        while (known := self._content.get(key)) is not None:
            if known == content or (beside and known.startswith(content)):
                return key, False
            key, digits = f"{natural}~{content.hex()[:digits]}", digits + 8
        self._content[key] = content + beside
        return key, True

    def has(self, key: str) -> bool:
        """Return whether a key was assigned."""
        return key in self._content

    def content(self, key: str) -> bytes:
        """Return the hash of the content behind a key that was assigned."""
        return self._content[key]


T = TypeVar("T")

_WIDTH = 8
"""Bytes of the hash of one fact, which is compared within one dialogue only."""


class Restatements:
    """Remembers a hash of the facts other than words that the first record of each dialogue stated, never the text."""

    def __init__(self) -> None:
        self._first: dict[str, bytes] = {}

    def differing(self, dialogue_id: str, stated: Mapping[str, T]) -> dict[str, T]:
        """Return ``stated`` (JSON pointer -> value) if the dialogue's first record stated anything else, or nothing.

        It is for ``records.extra``, under ``differs``.
        """
        fingerprint = digest(msgspec.json.encode(stated))
        return {} if self._first.setdefault(dialogue_id, fingerprint) == fingerprint else dict(stated)

    def differing_names(self, dialogue_id: str, facts: Mapping[str, str]) -> set[str]:
        """Return the names of the facts that the dialogue's first record stated otherwise, each of them compared.

        ``facts`` have the same names in the same order each time.
        """
        fingerprints = [digest(fact)[:_WIDTH] for fact in facts.values()]
        first = self._first.setdefault(dialogue_id, b"".join(fingerprints))
        pairs = zip(facts, fingerprints, range(0, len(first), _WIDTH), strict=True)
        return {name for name, fingerprint, start in pairs if first[start : start + _WIDTH] != fingerprint}


_DIGITS = 16
"""Hex digits of a content's hash in the key of a text."""

_REMEMBERED = 50_000
"""Texts that are looked up by their words; beyond, all are forgotten and looked up by their hash again."""


class Texts:
    """The candidate texts of a corpus's build: hashes are kept, and for speed some of the texts."""

    def __init__(self, corpus_id: str, memory: Memory | None = None) -> None:
        self._corpus_id = corpus_id
        self._keys = Keys(None if memory is None else memory.rows(CandidateText.TABLE))
        self._remembered: dict[str, str] = {}

    def ids(self, texts: Iterable[str], rows: list[Row]) -> list[str]:
        """Return the keys of texts; a text that is new adds its row."""
        return [self._remembered.get(text) or self.id(text, rows) for text in texts]

    def id_of_bytes(self, raw: bytes | bytearray, rows: list[Row]) -> str:
        """Return the key of a text in UTF-8; only a new one is decoded. The caller knows that it is UTF-8."""
        content = digest_of(raw)
        text_id, is_new = self._keys.assign(f"{self._corpus_id}:{content.hex()[:_DIGITS]}", content)
        if is_new:
            rows.append(CandidateText(text_id, self._corpus_id, raw.decode()))
        return text_id

    def id(self, text: str, rows: list[Row]) -> str:
        """Return the key of one text; adds its row where it is new."""
        text_id = self.id_of_bytes(text.encode(), rows)
        if len(self._remembered) >= _REMEMBERED:
            self._remembered.clear()
        self._remembered[text] = text_id
        return text_id
