"""What is remembered of the dialogues, so that each context of a TSV can be found in them: hashes, no texts."""

from collections.abc import Collection, Mapping, Sequence
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


class IndexedDialogue(NamedTuple):
    """What is remembered of a dialogue."""

    dialogue_id: str
    size: int
    fingerprints: bytes
    """The hashes of its utterances, one after the other; empty where no TSV needs them."""
    answers: tuple[int, ...]
    """Where the responses stand, context by context."""


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
        answers = tuple(responses(said["actor_type"], numbers))
        self._known[split][key] = IndexedDialogue(dialogue_id, len(texts), fingerprints, answers)

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
        for number in sorted(range(len(known.answers)), key=lambda number: number != expected):
            turn = known.answers[number]
            if known.fingerprints[max(0, turn - WINDOW) * _WIDTH : turn * _WIDTH] == fingerprints:
                is_equal = known.fingerprints[turn * _WIDTH : (turn + 1) * _WIDTH] == answer
                near = near or Context(known.dialogue_id, turn, number, is_equal)
                if is_equal:
                    return Context(known.dialogue_id, turn, number, is_equal)
        return near


def responses(roles: Sequence[str], numbers: Sequence[int]) -> list[int]:
    """List where the responses of a dialogue stand, as the authors' code finds them.

    Each utterance of a user but the first is answered by the next one, whoever says it; at a user's utterance that
    bears the number of the last one the search ends.
    """
    positions = []
    users = [index for index, role in enumerate(roles) if role == USER]
    for index in users[1:]:
        number = numbers[index]
        if number == len(roles):
            break
        if 1 <= number < len(roles):
            positions.append(number)
    return positions
