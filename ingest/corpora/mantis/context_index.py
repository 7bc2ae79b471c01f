"""What is remembered of the dialogues, so that each context of a TSV can be found in them: hashes, no texts."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from talkhouse.ingest.keys import digest

WINDOW = 11
"""Utterances in a context, at most (the authors' ``ResponseRankingDSCreator``)."""

USER = "user"
_WIDTH = 16
"""Bytes of a hash."""


class Context(NamedTuple):
    """The words before a response: where the response stands, and whether it is the published one."""

    dialogue_id: str
    turn_index: int
    number: int
    """0-based position among the contexts of its dialogue."""
    is_response_equal: bool
    is_window: bool
    """Whether its words are those that stand right before the response."""


class IndexedDialogue(NamedTuple):
    """What is remembered of a dialogue."""

    dialogue_id: str
    size: int
    fingerprints: bytes
    """The hashes of its utterances, one after the other; empty where no TSV needs them."""
    picked: tuple[Sequence[int], ...]
    """Where its words and its response stand, context by context."""

    def fingerprint(self, turn: int) -> bytes:
        """Return the hash of an utterance."""
        return self.fingerprints[turn * _WIDTH : (turn + 1) * _WIDTH]


class ContextIndex:
    """The dialogues of a build, by split and key."""

    def __init__(self, ranked: Collection[str] = (), *, is_labelled: bool = True) -> None:
        """``ranked``: splits that have a TSV, whose utterances are hashed; ``is_labelled``: labels follow."""
        self._ranked, self._is_labelled = ranked, is_labelled
        self._known: dict[str, dict[str, IndexedDialogue]] = {}

    def begin(self, split: str) -> None:
        """Record that a split has dialogues, whether or not they are remembered."""
        self._known.setdefault(split, {})

    def remembers(self, split: str) -> bool:
        """Whether other files of a split need what is said in its dialogues."""
        return split in self._ranked or self._is_labelled

    def add(self, split: str, key: str, dialogue_id: str, said: Mapping[str, Sequence[Any]]) -> None:
        """Remember a dialogue; ``said`` has the columns of its utterances."""
        if not self.remembers(split):
            return
        texts, positions = said["utterance"], said["utterance_pos"]
        numbers = [number if type(number) is int else index for index, number in enumerate(positions, 1)]
        fingerprints = b"".join(map(digest, texts)) if split in self._ranked else b""
        picked = tuple(contexts(said["actor_type"], numbers))
        self._known[split][key] = IndexedDialogue(dialogue_id, len(texts), fingerprints, picked)

    def known(self, split: str) -> bool:
        """Whether there are dialogues of a split."""
        return split in self._known

    def find(self, split: str, key: str) -> IndexedDialogue | None:
        """Find a dialogue; None where there is none."""
        return self._known.get(split, {}).get(key)

    def context(self, split: str, key: str, words: Sequence[str], response: str, expected: int) -> Context | None:
        """Find a context with its response in its dialogue, first where it is expected; None where it is not."""
        known = self.find(split, key)
        if known is None:
            return None
        fingerprints, answer = b"".join(map(digest, words)), digest(response)
        near = None
        for number in sorted(range(len(known.picked)), key=lambda number: number != expected):
            *before, turn = known.picked[number]
            if b"".join(map(known.fingerprint, before)) == fingerprints:
                is_equal = known.fingerprint(turn) == answer
                is_window = before == [*range(max(0, turn - WINDOW), turn)]
                found = Context(known.dialogue_id, turn, number, is_equal, is_window)
                near = near or found
                if is_equal:
                    return found
        return near


def contexts(roles: Sequence[str], numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield where the words of each context stand, and last its response, as the authors' code picks them.

    Each utterance of a user but the first gives one: those that bear its number, the ten below it and the one above it;
    the last of them is the response, whoever says it. At a user's utterance that bears the number of the last one the
    search ends. A context without words is none.
    """
    is_plain = all(number == index for index, number in enumerate(numbers, 1))
    users = [index for index, role in enumerate(roles) if role == USER]
    for index in users[1:]:
        number = numbers[index]
        if number == len(roles):
            break
        if is_plain:
            yield range(max(0, number - WINDOW), number + 1)
            continue
        picked = [at for at, other in enumerate(numbers) if max(1, number - WINDOW + 1) <= other <= number + 1]
        if len(picked) > 1:
            yield picked
