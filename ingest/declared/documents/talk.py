"""What a format makes of a record: the turns of a dialogue, the answers that are compared, and what was found."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple, Protocol

from msgspec import Raw, Struct

from talkhouse.ingest.declared.shapes import KnownShapes, Members, Split, Wanted
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.stored_record import StoredRecord


class Piece(Struct, gc=False):
    """A part of a turn, as ``main.parts`` has it; offsets are code points of the turn's text."""

    field: str
    kind: str
    start_index: int | None = None
    end_index: int | None = None
    name: str | None = None
    call_id: str | None = None
    arguments: str | None = None
    """JSON text, verbatim."""
    uri: str | None = None
    mime_type: str | None = None
    text: str | None = None
    shape: Mapping[str, object] | None = None
    """How the object is written (``shapes``); None where the part is no object."""
    extra: dict[str, Raw] | None = None


class Said(Struct, gc=False):
    """A turn, as a format found it."""

    role: str
    """Ours, by ``[roles]``."""
    text: str
    pointer: str
    """Where it is inside the record: ``/messages/3``."""
    kind: str = "message"
    speaker: str | None = None
    """The name or id that the file gives; None where nothing names one."""
    is_bot: bool | None = None
    speaker_name: str | None = None
    native_id: str | None = None
    said_at: datetime | None = None
    reply_to: int | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    shape: Mapping[str, object] | None = None
    """How the object is written; None where the turn is no object of its own."""
    extra: dict[str, Raw] | None = None
    parts: list[Piece] | None = None


class Offered(Struct, gc=False):
    """A candidate: one message of an answer that is preferred or not (``main.candidates``)."""

    turn_index: int | None
    """The first turn of the chosen answer; None where that has none."""
    position: int
    """0: chosen; 1: rejected."""
    item_index: int
    text: str
    is_gold: bool
    shape: Mapping[str, object] | None = None
    """How the message's object is written (level "candidate"); None where it is no object, or a turn has it."""
    extra: dict[str, Raw] | None = None


class Talk(Struct):
    """What a record becomes."""

    said: list[Said]
    offered: list[Offered] = []
    taken: dict[str, str | None] = {}
    """What ``Split.shape`` takes: the format's own holes of the record."""
    extra: dict[str, Raw] = {}
    """What else the record's ``extra`` has to have so that it can be written; names of ``shapes.RESERVED`` only."""
    findings: list[ReaderFinding] = []
    """Their pointers are inside the record."""
    response: int | None = None
    """The turn that labels ``on = "response"`` are about."""
    messages: Mapping[int, Members] = {}
    """Turn index -> the members of its object, for labels inside; empty where no turn is an object."""


class ListColumns(NamedTuple):
    """Where the turns of a format are that are columns: a list of objects."""

    list_key: str
    fields: Mapping[str, str]
    """Column of a turn -> key."""
    parts: frozenset[str]
    """Keys of what becomes parts of a turn."""
    is_plain: Callable[[str], bool]
    """Whether a role's word says no more than the role does."""


class DocumentFormat(Protocol):
    """One format: takes a record apart, and writes its holes again."""

    wanted: Wanted
    """The members of a record that the format takes, beside those of ``[dialogue]`` that all formats have."""

    @property
    def columns(self) -> ListColumns | None:
        """Where turns are columns, if that is where they are."""

    def read(self, record: Split) -> Talk:
        """Make the turns of a record from what is in its holes.

        Raises BadRecord GF-01 and others with the pointer inside the record.
        """

    def write(self, hole: str, stored: StoredRecord, shapes: KnownShapes) -> bytes:
        """Return the JSON text of one of its holes, by its name in the shape.

        ``shapes`` are those of the record's file: of a turn at the level "message", of a part at "part", each by the
        row's ``extra`` (``shapes.of("message", literals(turn.extra))``), where the engine has put the number.
        """
