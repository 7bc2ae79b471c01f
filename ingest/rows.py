"""One class per table: what a reader yields, column for column (a test holds them against the metadata)."""

from datetime import datetime
from typing import Any, ClassVar

from msgspec import Struct


class Row(Struct, gc=False):
    """A row of a table; ``extra`` is JSON text, or None if it would be empty."""

    TABLE: ClassVar[str]


class Dialogue(Row):
    """A real conversation."""

    TABLE = "dialogues"
    dialogue_id: str
    corpus_id: str
    native_id: str | None = None
    domain: str | None = None
    title: str | None = None
    language: str | None = None
    started_at: datetime | None = None
    extra: str | None = None
    derived_from: str | None = None


class Speaker(Row):
    """A person or bot."""

    TABLE = "speakers"
    speaker_id: str
    corpus_id: str
    native_id: str | None
    name: str | None
    kind: str
    is_anonymous: bool
    extra: str | None = None

    @classmethod
    def within(cls, dialogue_id: str, name: str, kind: str = "human") -> "Speaker":
        """Make the row of somebody who is known by a name, and only within one dialogue."""
        return cls(f"{dialogue_id}/{name}", dialogue_id.partition(":")[0], None, name, kind, is_anonymous=True)


class Participant(Row):
    """A speaker in a dialogue."""

    TABLE = "participants"
    dialogue_id: str
    speaker_id: str
    role: str | None
    extra: str | None = None


class Turn(Row):
    """An utterance."""

    TABLE = "turns"
    dialogue_id: str
    turn_index: int
    speaker_id: str | None
    role: str
    kind: str
    text: str
    native_id: str | None = None
    said_at: datetime | None = None
    extra: str | None = None
    reply_to: int | None = None
    start_ms: int | None = None
    end_ms: int | None = None


class TurnSpeaker(Row):
    """One of several speakers who say a turn together; the turn's own ``speaker_id`` is then None."""

    TABLE = "turn_speakers"
    dialogue_id: str
    turn_index: int
    position: int
    speaker_id: str


class Part(Row):
    """A part of a turn that is more than a plain text."""

    TABLE = "parts"
    dialogue_id: str
    turn_index: int
    part_index: int
    field: str
    kind: str
    start_index: int | None = None
    end_index: int | None = None
    name: str | None = None
    call_id: str | None = None
    arguments: str | None = None
    uri: str | None = None
    mime_type: str | None = None
    text: str | None = None
    extra: str | None = None


class Record(Row):
    """A record of a published file."""

    TABLE = "records"
    record_id: str
    corpus_id: str
    dialogue_id: str | None
    native_id: str | None
    main_speaker_id: str | None
    subset: str | None
    release: str | None
    split: str | None
    standard_split: str | None
    record_index: int
    source_file_id: str
    source_pointer: str
    extra: str | None = None

    def annotation(
        self,
        turn_index: int | None,
        scheme: str,
        label: str | None,
        value: float | None = None,
        *,
        annotator_index: int = 0,
        annotator_id: str | None = None,
        item_index: int = 0,
        persona_set: str | None = None,
        persona_position: int | None = None,
        persona_id: str | None = None,
        extra: str | None = None,
        start_index: int | None = None,
        end_index: int | None = None,
    ) -> "Annotation":
        """Make the row of a label that came with this record; a span is in code points, its end exclusive."""
        return Annotation(
            record_id=self.record_id,
            turn_index=turn_index,
            persona_set=persona_set,
            persona_position=persona_position,
            scheme=scheme,
            annotator_index=annotator_index,
            item_index=item_index,
            dialogue_id=self.dialogue_id,
            persona_id=persona_id,
            annotator_id=annotator_id,
            label=label,
            value=value,
            extra=extra,
            start_index=start_index,
            end_index=end_index,
        )

    def annotations(self, **columns: list[Any]) -> "ColumnBatch":
        """Make the rows of many labels that came with this record, from a list for each column that they differ in.

        That takes a third of the time of as many calls of ``annotation``. Without them, annotator and item are 0.
        """
        shared = {"record_id": self.record_id, "dialogue_id": self.dialogue_id, "annotator_index": 0, "item_index": 0}
        return ColumnBatch(Annotation, {name: shared[name] for name in shared if name not in columns}, columns)


class Persona(Row):
    """A persona element or sentence."""

    TABLE = "personas"
    persona_id: str
    corpus_id: str
    native_id: str | None
    speaker_id: str | None
    text: str
    image_file: str | None = None
    image_url: str | None = None
    extra: str | None = None


class PersonaUse(Row):
    """A persona in a list that came with a record."""

    TABLE = "persona_uses"
    record_id: str
    turn_index: int | None
    persona_set: str
    position: int
    dialogue_id: str | None
    persona_id: str
    speaker_id: str | None = None
    extra: str | None = None


class Image(Row):
    """An image that a corpus names."""

    TABLE = "images"
    corpus_id: str
    kind: str
    image_id: str
    url: str | None
    source_file_id: str
    image_index: int
    extra: str | None = None


class Annotation(Row):
    """One label by one annotator."""

    TABLE = "annotations"
    record_id: str
    turn_index: int | None
    persona_set: str | None
    persona_position: int | None
    scheme: str
    annotator_index: int
    item_index: int
    dialogue_id: str | None
    persona_id: str | None
    annotator_id: str | None
    label: str | None
    value: float | None = None
    extra: str | None = None
    start_index: int | None = None
    end_index: int | None = None


class Label(Row):
    """A label that the data declare, such as a schema file: its meaning, empty where they give none."""

    TABLE = "labels"
    scheme: str
    label: str
    meaning: str = ""
    namespace: str | None = None

    @classmethod
    def within(cls, namespace: str, scheme: str, name: str, meaning: str = "") -> "Label":
        """Make the row of a name that means something within a namespace: the label is both, with a dot between."""
        return cls(scheme, f"{namespace}.{name}", meaning, namespace)


class Candidate(Row):
    """One item of a candidate list."""

    TABLE = "candidates"
    record_id: str
    turn_index: int | None
    candidate_set: str
    position: int
    item_index: int
    dialogue_id: str | None
    text_id: str | None
    persona_id: str | None = None
    source: str | None = None
    is_gold: bool | None = None
    extra: str | None = None


class CandidateText(Row):
    """A distinct candidate text."""

    TABLE = "texts"
    text_id: str
    corpus_id: str
    text: str


class Finding(Row):
    """A warning or rejection: the rule, and what was found where."""

    TABLE = "meta.findings"
    corpus_id: str | None
    finding_index: int
    rule: str
    severity: str
    source_file_id: str | None
    pointer: str | None
    record_id: str | None
    task: str | None
    turn_index: int | None
    detail: str


class Quarantined(Row):
    """A source record that could not be loaded, verbatim."""

    TABLE = "meta.quarantine"
    corpus_id: str
    source_file_id: str
    pointer: str
    rule: str
    detail: str
    subset: str | None
    release: str | None
    split: str | None
    record_index: int | None
    native_id: str | None
    raw: bytes


class ColumnBatch(Struct, gc=False):
    """Many rows of one table, kept as columns: the values that all of them share, and a list for each that differs.

    For lists of hundreds of thousands of items, where an object for each row costs more than the rest of a load. A
    column may also be a Polars series that can be cast to the type of the table's column.
    """

    kind: type[Row]
    shared: dict[str, Any]
    columns: dict[str, Any]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self.columns.values())))


class FileRow(Row):
    """A source file, with its counts."""

    TABLE = "meta.source_files"
    source_file_id: str
    corpus_id: str
    path: str
    member: str | None
    kind: str
    sha256: str
    size: int
    modified_at: datetime
    mtime_ns: int | None
    inode: int | None
    records_in: int
    records_loaded: int
    records_quarantined: int
    note: str | None
    extra: str | None = None
    counts: str | None = None


ROWS: tuple[type[Row], ...] = tuple(Row.__subclasses__())
"""Every row class, each once, in their order above."""
