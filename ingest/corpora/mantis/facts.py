"""What a second file that has a dialogue states of it otherwise; hashes are kept of what the first one said."""

from hashlib import blake2b

from msgspec import UNSET

from ingest.corpora.mantis.parse import Parsed
from ingest.corpora.mantis.shapes import FACTS, SPOKEN, TALK_FACTS, Value, literal
from ingest.decode import pointer

_DIGEST = 8
"""Bytes of the hash of a fact, or of one fact of all utterances; compared within one dialogue only."""


class Facts:
    """Remembers what was said of each dialogue first: a hash for each fact, and one for unknown fields."""

    def __init__(self) -> None:
        self._marks: dict[str, bytes] = {}

    def differs(self, dialogue_id: str, parsed: Parsed) -> dict[str, str]:
        """Give, by pointer, the JSON of every fact that a record states otherwise than the first of its dialogue."""
        mark = b"".join(blake2b(repr(fact).encode(), digest_size=_DIGEST).digest() for fact in _stated(parsed).values())
        first = self._marks.setdefault(dialogue_id, mark)
        if first == mark:
            return {}
        wrong = {name for index, name in enumerate(_NAMES) if _part(first, index) != _part(mark, index)}
        found = {pointer(name): parsed.facts.get(name, UNSET) for name in TALK_FACTS if name in wrong}
        for index in range(len(parsed.orders)):
            said = {name: column[index] for name, column in zip(SPOKEN, parsed.spoken, strict=True)}
            found |= {pointer("utterances", index, name): said[name] for name in FACTS if name in wrong}
            if _UNKNOWN in wrong:
                found |= {pointer("utterances", index, name): value for name, value in unknown(parsed, index).items()}
        return {place: literal(value) for place, value in found.items() if value is not UNSET}


_UNKNOWN = ""
_NAMES = (*TALK_FACTS, *FACTS, _UNKNOWN)


def unknown(parsed: Parsed, index: int) -> dict[str, Value]:
    """Give the fields of an utterance that no documentation names."""
    return {name: value for name, value in parsed.others.get(index, {}).items() if name != "intent"}


def _stated(parsed: Parsed) -> dict[str, Value]:
    """Give every fact by name, that of utterances as a column."""
    talk = {name: parsed.facts.get(name, UNSET) for name in TALK_FACTS}
    strange = {index: some for index in parsed.others if (some := unknown(parsed, index))}
    said = {name: column for name, column in zip(SPOKEN, parsed.spoken, strict=True) if name in FACTS}
    return talk | said | {_UNKNOWN: strange}


def _part(mark: bytes, index: int) -> bytes:
    return mark[index * _DIGEST : (index + 1) * _DIGEST]
