"""The format of a dialogue log, as published; optional fields are UNSET where they are absent."""

from msgspec import UNSET, Raw, Struct, UnsetType


class Label(Struct, rename="kebab", forbid_unknown_fields=True):
    """One annotator's label of one turn."""

    breakdown: str
    annotator_id: str | UnsetType | None = UNSET
    ungrammatical_sentence: str | UnsetType | None = UNSET
    comment: str | UnsetType | None = UNSET


class LogTurn(Struct, rename="kebab", forbid_unknown_fields=True):
    """One utterance; its number is kept as the literal that was published."""

    speaker: str
    utterance: str
    turn_index: Raw | UnsetType = UNSET
    time: str | UnsetType | None = UNSET
    annotation_id: str | UnsetType | None = UNSET
    annotations: list[Label] | UnsetType | None = UNSET


class Log(Struct, rename="kebab", forbid_unknown_fields=True):
    """One dialogue."""

    dialogue_id: str
    turns: list[LogTurn]
    group_id: str | UnsetType | None = UNSET
    speaker_id: str | UnsetType | None = UNSET
