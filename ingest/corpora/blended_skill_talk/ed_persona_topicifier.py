"""The cached EmpatheticDialogues with personas and topics: an episode is a list of entries, each a ParlAI act."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.blended_skill_talk.records import (
    UniqueTexts,
    extra_of,
    read_json_list,
    record_at,
    texts_at,
)
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.input_files import InputFile
from talkhouse.ingest.outcomes import Loaded, Outcome, SourceLocation
from talkhouse.ingest.stored_record import StoredRecord

_LABELS = "ed_label"
"""The candidate set."""


class _Entry(Struct, forbid_unknown_fields=True):
    """One act; what nothing reads is raw."""

    text: str
    labels: list[str]
    episode_done: Raw
    label_candidates: list[str] | UnsetType | None = UNSET
    situation: Raw | UnsetType = UNSET
    emotion: Raw | UnsetType = UNSET
    prepend_ctx: Raw | UnsetType = UNSET
    prepend_cand: Raw | UnsetType = UNSET
    deepmoji_ctx: Raw | UnsetType = UNSET
    deepmoji_cand: Raw | UnsetType = UNSET


class _Extra(Struct):
    """What ``records.extra`` holds: the acts, in which a number stands for the list of candidates."""

    entries: list[dict[str, Raw]] = []


def read_ed(input_file: InputFile, raw: bytes, texts: UniqueTexts) -> Iterator[Outcome]:
    """Read the episodes of a file."""
    return read_json_list(input_file, raw, partial(_episode, input_file, texts))


def _episode(input_file: InputFile, texts: UniqueTexts, location: SourceLocation, raw: bytes) -> Loaded:
    """Read one episode; candidates go by reference, everything else stays as it is."""
    entries, unknown = decode.record(raw, list[_Entry], rule="BS-09")
    for number, entry in enumerate(entries):
        # In train the reference code deletes the field, and stops where it is not there.
        if location.split == "train" and entry.label_candidates is UNSET:
            raise BadRecord("BS-09", "no label_candidates", pointer(number))
    acts: list[dict[str, Any]] = decode.decoder(list[dict[str, Raw]]).decode(raw)
    lists = [(number, entry.label_candidates) for number, entry in enumerate(entries) if entry.label_candidates]
    for act, entry in zip(acts, entries, strict=True):
        if isinstance(entry.label_candidates, list):
            act["label_candidates"] = len(entry.label_candidates)
    record = record_at(location, input_file, {"entries": acts, "unknown": list(unknown)})
    rows, column_batches = texts.candidates(record, _LABELS, lists)
    return Loaded(location, [record, *rows], column_batches=column_batches)


def write_ed(stored: StoredRecord) -> bytes:
    """Put the lists of candidates back where their numbers stand."""
    entries: list[dict[str, Any]] = [dict(entry) for entry in extra_of(stored, _Extra).entries]
    for number, entry in enumerate(entries):
        if bytes(entry.get("label_candidates", b"null")) != b"null":
            entry["label_candidates"] = texts_at(stored, number)
    return msgspec.json.encode(entries)
