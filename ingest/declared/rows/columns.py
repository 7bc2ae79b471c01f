"""Which columns of a file hold what: a *placeholder* is a field of the tables that a cell fills and restores."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Self, TypeAlias

from talkhouse.ingest.declared.declaration.model import Annotations, Declaration, JsonPath

Placeholder: TypeAlias = str

ID, TITLE, DOMAIN, LANGUAGE, SPLIT = "dialogue.id", "title", "domain", "language", "split"
ID_PART = f"{ID}:"
"""Before a number: one of the columns that are the id together."""
STARTED_AT, SAID_AT = "started_at", "said_at"
TURN_ID, TEXT, ROLE, SPEAKER, KIND = "id", "text", "role", "speaker", "kind"
REPLY_TO, ORDER, START_MS, END_MS = "reply_to", "order", "start_ms", "end_ms"
NAME, IS_BOT = "name", "is_bot"
LABEL, OF_DIALOGUE = "label:", "fact:"
"""Before a scheme and the place of its column: labels of a turn, and of the dialogue."""
LEVEL = "row"
"""Of the shapes of rows."""
BEGUN = "begun"
"""Of a frame without ids: the number of the dialogue, where the file says that one begins."""
READ = "read:"
"""Before what is only read: its cell stays in ``extra``."""

DIALOGUE_TEXTS = (TITLE, DOMAIN, LANGUAGE, SPLIT)
TIMES = (SAID_AT, STARTED_AT)


class TimeColumns(NamedTuple):
    """The columns of a frame that tell of a column of times or moments, beside its texts."""

    value: str
    """The time, or the moment; null where the text has another form than declared."""
    how: str
    """How the file writes it; null where the column can't restore it."""
    bad: str
    """Its text where that has another form than declared."""

    @classmethod
    def of(cls, placeholder: Placeholder) -> Self:
        """Return their names."""
        return cls(*(f"{placeholder}.{name}" for name in cls._fields))


def filled_by(placeholder: Placeholder) -> str:
    """Return the column of a frame that tells which column fills a placeholder that several may fill."""
    return f"{placeholder}.key"


@dataclass(frozen=True)
class LabelColumn:
    """A column of labels: whose, and of what."""

    placeholder: Placeholder
    scheme: str
    """In full."""
    annotator_index: int
    annotator_id: str | None
    missing: tuple[str, ...]
    """Values that are no label; the first is what a cell without a label has."""
    is_of_turn: bool
    value: Placeholder | None = None
    """Where the label's number is."""
    annotator: Placeholder | None = None
    start: Placeholder | None = None
    end: Placeholder | None = None
    is_utf16: bool = False


@dataclass(frozen=True)
class RowColumns:
    """What the columns of a corpus's files of turns are."""

    placeholders: Mapping[Placeholder, tuple[str, ...]]
    """Placeholder -> the column, or the names that it may have, of which a row has one."""
    labels: tuple[LabelColumn, ...] = ()
    inside: Mapping[Placeholder, JsonPath] = field(default_factory=dict)
    """Placeholder -> the path below its column, if it is a member of an object; the cell stays in ``extra``."""
    fallbacks: frozenset[Placeholder] = frozenset()
    """Those that have several columns, of which the first that says something counts; all cells stay in ``extra``."""
    has_default_ids: bool = False
    """Whether a turn need not say of which dialogue it is (``default_ids``)."""

    @property
    def keepers(self) -> dict[str, Placeholder]:
        """Column -> the placeholder that gives its cells back: the first of those that read it."""
        keepers: dict[str, Placeholder] = {}
        for placeholder, names in self.placeholders.items():
            is_read_only = placeholder.startswith(READ) or placeholder in self.inside or placeholder in self.fallbacks
            for name in () if is_read_only else names:
                keepers.setdefault(name, placeholder)
        return keepers

    def path(self, placeholder: Placeholder, column: str | None = None) -> JsonPath:
        """Return the path to the cell of a placeholder in a row."""
        return (column or self.placeholders[placeholder][0], *self.inside.get(placeholder, ()))

    @property
    def id_parts(self) -> list[Placeholder]:
        """The placeholders that are the id together; empty where it is in one column."""
        return [placeholder for placeholder in self.placeholders if placeholder.startswith(ID_PART)]

    @property
    def declared(self) -> list[str]:
        """The columns that a file must have, each once."""
        placeholders = self.placeholders.items()
        return list(dict.fromkeys(names[0] for placeholder, names in placeholders if placeholder not in self.fallbacks))

    def readers(self) -> dict[str, list[Placeholder]]:
        """Column -> the placeholders that read it, but for those that have several in their order."""
        readers: dict[str, list[Placeholder]] = {}
        for placeholder, names in self.placeholders.items():
            for name in () if placeholder in self.fallbacks else names:
                readers.setdefault(name, []).append(placeholder)
        return readers


def columns_of(declaration: Declaration) -> RowColumns:
    """Return the columns of files of turns, by ``[dialogue]``, ``[turn]``, ``[speaker]`` and the labels."""
    dialogue, turn, speaker = declaration.dialogue, declaration.turn, declaration.speaker
    paths: dict[Placeholder, JsonPath | None] = {
        TEXT: turn.text or ("text",),
        ID: dialogue.id,
        **{f"{ID_PART}{number}": path for number, path in enumerate(dialogue.id_parts)},
        TURN_ID: turn.id,
        SPEAKER: turn.speaker,
        ROLE: turn.role,
        SAID_AT: turn.said_at,
        REPLY_TO: turn.reply_to,
        KIND: turn.kind,
        ORDER: turn.order,
        START_MS: turn.start_ms,
        END_MS: turn.end_ms,
        TITLE: dialogue.title,
        DOMAIN: dialogue.domain,
        LANGUAGE: dialogue.language,
        SPLIT: dialogue.split,
        STARTED_AT: dialogue.started_at,
        NAME: speaker.name,
        READ + IS_BOT: speaker.is_bot,
    }
    specs = [spec for spec in declaration.annotations if spec.from_file is None]
    labels = [label for spec in specs for label in _label_columns(spec, declaration, paths)]
    placeholders = {placeholder: names for placeholder, path in paths.items() if (names := _names(path))}
    inside = {placeholder: path[1:] for placeholder, path in paths.items() if path and len(path) > 1}
    several = {**turn.fallbacks, **dialogue.fallbacks, **speaker.fallbacks}
    fallbacks = {_PLACEHOLDERS.get(key, key): others for key, others in several.items()}
    for placeholder, others in fallbacks.items():
        placeholders[placeholder] += tuple(name for path in others for name in _names(path))
    return RowColumns(placeholders, tuple(labels), inside, frozenset(fallbacks))


_PLACEHOLDERS = {"is_bot": READ + IS_BOT}
"""Of keys that are called otherwise; the id of dialogues has no fallbacks."""


def _names(path: JsonPath | None) -> tuple[str, ...]:
    return (path[0],) if path and isinstance(path[0], str) else ()


def _label_columns(
    spec: Annotations, declaration: Declaration, paths: dict[Placeholder, JsonPath | None]
) -> Iterator[LabelColumn]:
    """Yield the columns of labels of a scheme, and add their paths."""
    is_of_turn = spec.on in ("turn", "response")
    scheme, missing = declaration.scheme(spec.scheme), spec.missing_values or ("",)
    begin = (LABEL if is_of_turn else OF_DIALOGUE) + spec.scheme
    for place, column in enumerate(spec.columns):
        paths[f"{begin}:{place}"] = (column,)
        yield LabelColumn(f"{begin}:{place}", scheme, place, column, missing, is_of_turn)
    if not spec.columns:
        read = {key: f"{READ}{spec.scheme}:{key}" for key in ("value", "annotator", "start", "end")}
        paths |= {f"{begin}:0": spec.label} | {read[key]: getattr(spec, key) for key in read}
        if spec.label or spec.value:
            there = {key: placeholder for key, placeholder in read.items() if _names(paths[placeholder])}
            is_utf16 = spec.offsets == "utf-16"
            yield LabelColumn(f"{begin}:0", scheme, 0, None, missing, is_of_turn, is_utf16=is_utf16, **there)
