"""What is guessed: a format, why, and the parts of a declaration that it needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from talkhouse.ingest.declared.declaration.model import (
    Dialect,
    DialogueFields,
    Format,
    JsonPath,
    PairFields,
    PreferenceFields,
    SpeakerFields,
    TurnFields,
)


@dataclass(frozen=True)
class GuessedLabels:
    """Labels that a corpus seems to have; they are only ever proposed."""

    scheme: str
    on: str
    columns: tuple[str, ...]
    """One for each annotator, or the only one."""
    words: tuple[str, ...] = ()
    """What occurs, where these are a few texts."""


@dataclass(frozen=True)
class Guess:
    """A format that files look like, and what their fields seem to mean."""

    format: Format
    reason: str
    """Why, behind 'looks like: chat'."""
    dialogue: DialogueFields = field(default_factory=DialogueFields)
    turn: TurnFields = field(default_factory=TurnFields)
    speaker: SpeakerFields = field(default_factory=SpeakerFields)
    pair: PairFields = field(default_factory=PairFields)
    preference: PreferenceFields = field(default_factory=PreferenceFields)
    dialect: Dialect = field(default_factory=Dialect)
    markers: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    times: Mapping[str, str] = field(default_factory=dict)
    labels: tuple[GuessedLabels, ...] = ()
    extra: tuple[str, ...] = ()
    """Fields of the records that nothing takes."""
    remarks: Mapping[str, str] = field(default_factory=dict)
    """``dialogue.id`` -> why it is proposed, or why it is not."""


Mapped: TypeAlias = DialogueFields | TurnFields | SpeakerFields | PairFields | PreferenceFields


def paths_of(fields: Mapped) -> dict[str, JsonPath]:
    """Return the paths of a table of ``corpus.toml``, by their names there; without those that are not given."""
    return {name: value for name, value in vars(fields).items() if isinstance(value, tuple)}
