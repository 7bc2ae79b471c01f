"""What is guessed of files, what speaks for it, and how both are written.

What speaks for a guess are names that fields have in the wild (``field_names.toml``), and the values of a sample.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from talkhouse.guess.record_values import Records, as_words, path_words
from talkhouse.ingest.declared.declaration import model
from talkhouse.ingest.declared.declaration.table import path_text
from talkhouse.ingest.declared.declaration.toml_text import toml_string
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


def level(path: model.JsonPath) -> int | None:
    """Return the depth of something in seasons, episodes, scenes, by its name; None where the name says nothing."""
    word = path_words(path).removesuffix("_id").removesuffix("_no").removesuffix("_number")
    return _LEVELS.index(word) if word in _LEVELS else None


@dataclass(frozen=True)
class GuessedLabels:
    """Labels that a corpus seems to have; they are only ever proposed."""

    scheme: str
    on: str
    columns: tuple[str, ...]
    """One for each annotator, or the only one."""
    words: tuple[str, ...] = ()
    """What occurs, where these are a few texts."""
    meanings: Mapping[str, str] = field(default_factory=dict)
    """What each means, where a method of training says so: then they are declared, not only proposed."""


@dataclass(frozen=True)
class Guess:
    """A format that files look like, and what their fields seem to mean."""

    format: model.Format
    reason: str
    """Why, behind 'looks like: chat'."""
    dialogue: model.DialogueFields = field(default_factory=model.DialogueFields)
    turn: model.TurnFields = field(default_factory=model.TurnFields)
    speaker: model.SpeakerFields = field(default_factory=model.SpeakerFields)
    pair: model.PairFields = field(default_factory=model.PairFields)
    preference: model.PreferenceFields = field(default_factory=model.PreferenceFields)
    dialect: model.Dialect = field(default_factory=model.Dialect)
    markers: Mapping[str, str] = field(default_factory=dict)
    separators: tuple[str, ...] = ()
    lines: Mapping[str, str] = field(default_factory=dict)
    """``[lines]``, by which the lines of a text are rows."""
    roles: Mapping[str, str] = field(default_factory=dict)
    times: Mapping[str, str] = field(default_factory=dict)
    labels: tuple[GuessedLabels, ...] = ()
    extra: tuple[str, ...] = ()
    """Fields of the records that nothing takes."""
    remarks: Mapping[str, str] = field(default_factory=dict)
    """``dialogue.id`` -> why it is proposed, or why it is not; so of other keys."""
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Table -> what else could be in it, a line each."""
    together: tuple[model.JsonPath, ...] = ()
    """Columns that are the id together; ``dialogue.id`` is the first of them."""
    also: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Table -> key -> value as TOML has it, of keys that are more than one path."""
    needs: tuple[model.JsonPath, ...] = ()
    """What these keys name, without which a file is none of these."""
    ids: Literal["corpus", "file", "split"] = "corpus"
    """Where an id means one dialogue."""
    turns: Records = field(default_factory=Records)
    """The turns of the sample, each an object or row."""
    left: tuple[str, ...] = ()
    """Members of turns that nothing takes, each with a sample."""


Mapped: TypeAlias = (
    model.DialogueFields | model.TurnFields | model.SpeakerFields | model.PairFields | model.PreferenceFields
)


def paths_of(fields: Mapped) -> dict[str, model.JsonPath]:
    """Return the paths of a table of ``corpus.toml``, by their names there; without those that are not given."""
    return {name: value for name, value in vars(fields).items() if isinstance(value, tuple) and name not in _NO_PATHS}


_NO_PATHS = ("id_parts", "record")


class FieldGuess(NamedTuple):
    """A field, and what speaks for it."""

    path: model.JsonPath | None = None
    remarks: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()
    """What else it could be, a line each."""
    times: Mapping[str, str] = {}
    """``[times]``, where the field is a time that is not in ISO 8601."""


def quoted_path(path: model.JsonPath, *, is_column: bool) -> str:
    """Write a path, or the name of a column, as TOML has it."""
    return toml_string(str(path[0]) if is_column else path_text(path[1:] if path[:1] == ("",) else path))


def dotted(path: model.JsonPath | None) -> str:
    """Write a path in words."""
    signs: dict[object, str] = {None: "[*]", ...: ".*"}
    pieces = (f".{name}" if isinstance(name, str) else signs.get(name, f"[{name}]") for name in path or ())
    return "".join(pieces).removeprefix(".") or "$"


def names_of(paths: Sequence[model.JsonPath | None]) -> set[str]:
    """Return the names of the fields that paths begin with."""
    return {path[0] for path in paths if path and isinstance(path[0], str)}


def scheme_word(name: str) -> str:
    """Write a field's name as the name of a scheme."""
    return as_words(name) or "label"


def ids_text(together: Sequence[model.JsonPath]) -> str:
    """Write the columns that are an id as TOML has them."""
    names = [toml_string(str(path[0])) for path in together]
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"
