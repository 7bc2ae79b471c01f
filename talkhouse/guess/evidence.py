"""What speaks for a guess: names that fields have in the wild (``field_names.toml``), and the values of a sample."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from talkhouse.guess.record_values import path_words
from talkhouse.ingest.declared.declaration.model import JsonPath
from talkhouse.schema.toml_files import toml_of

_MOST_WORDS = 4
_LONGEST_WORD = 20

_DATA: Mapping[str, Any] = toml_of(__file__, "field_names")

NAMES: Mapping[str, tuple[str, ...]] = {meaning: tuple(names) for meaning, names in _DATA.items() if meaning != "pairs"}
"""Meaning -> names as words, the likeliest first."""

PAIRS: Mapping[str, tuple[tuple[str, str], ...]] = {
    meaning: tuple((first, second) for first, second in pairs) for meaning, pairs in _DATA["pairs"].items()
}
"""The same of two fields that belong together."""


def share(values: Sequence[Any], fits: Callable[[Any], bool], what: str) -> str:
    """Write how many values fit: ``412 of 412 are texts``."""
    return f"{sum(map(fits, values)):,} of {len(values):,} {what}"


def texts(values: Sequence[Any]) -> str:
    """Write how many values are texts, and how many of these are empty."""
    empty = sum(value == "" for value in values)
    has_lists = any(isinstance(value, list) for value in values)
    what = "are texts" + " or lists of them" * has_lists
    return share(values, lambda value: isinstance(value, str | list), what) + (f", {empty:,} empty" if empty else "")


def words(values: Sequence[Any]) -> str:
    """Write the commonest values with their counts: ``user 6, assistant 5``."""
    counts = Counter(str(value) for value in values if value is not None).most_common()
    some = ", ".join(
        f"{word[:_LONGEST_WORD]}{'...' * (len(word) > _LONGEST_WORD)} {count:,}" for word, count in counts[:_MOST_WORDS]
    )
    return some + (f", {len(counts) - _MOST_WORDS:,} more" if len(counts) > _MOST_WORDS else "")


def groups(dialogues: Sequence[Sequence[Any]]) -> str:
    """Write how many dialogues there are, and of how many turns."""
    sizes = sorted(len(dialogue) for dialogue in dialogues)
    turns = f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,} to {sizes[-1]:,}"
    return f"{len(sizes):,} dialogue{'s' * (len(sizes) > 1)} of {turns} turn{'s' * (sizes[-1] > 1)}"


_OF_FIELDS: Mapping[str, Callable[[Sequence[Any]], str]] = {
    **dict.fromkeys(("turn.text", "pair.prompt", "pair.response", "dialogue.title", "dialogue.domain"), texts),
    **dict.fromkeys(("turn.role", "turn.speaker", "dialogue.split", "dialogue.language", "speaker.is_bot"), words),
    **dict.fromkeys(
        ("pair.query", "pair.system", "pair.history", "dialogue.system", "preference.prompt"),
        lambda values: share(values, bool, "are not empty"),
    ),
    **dict.fromkeys(
        ("preference.chosen", "preference.rejected"),
        lambda values: share(values, lambda value: value is not None, "are there"),
    ),
    **dict.fromkeys(
        ("turn.said_at", "dialogue.started_at"),
        lambda values: share(values, lambda value: value not in (None, ""), "are times"),
    ),
    "turn.order": lambda values: f"{len(values):,} whole numbers, none twice in a dialogue",
    "speaker.name": lambda values: f"{len(set(map(str, values))):,} different",
}


def of_field(key: str, values: Sequence[Any]) -> str | None:
    """Return the evidence for a key of ``corpus.toml`` by the values at its path; None where nothing has to be said."""
    return _OF_FIELDS[key](values) if key in _OF_FIELDS and values else None


_LEVELS = ("season", "volume", "book", "chapter", "episode", "meeting", "session", "scene")
"""What dialogues lie in, each inside of what stands before it."""


def level(path: JsonPath) -> int | None:
    """Return the depth of something in seasons, episodes, scenes, by its name; None where the name says nothing."""
    word = path_words(path).removesuffix("_id").removesuffix("_no").removesuffix("_number")
    return _LEVELS.index(word) if word in _LEVELS else None
