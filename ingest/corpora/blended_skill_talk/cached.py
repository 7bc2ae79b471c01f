"""The cached EmpatheticDialogues with personas and topics: an episode is a list of entries, each a ParlAI act."""

from typing import Any

from msgspec import UNSET, Raw, Struct, UnsetType

from ingest import decode
from ingest.corpora.blended_skill_talk.envelope import check_utf8
from ingest.corpora.blended_skill_talk.given import Given
from ingest.corpora.blended_skill_talk.library import Library
from ingest.corpora.blended_skill_talk.names import CACHED_LABELS
from ingest.decode import BadRecord, pointer
from ingest.json_members import Member
from ingest.outcomes import Loaded, Outcome, reject


class Entry(Struct, forbid_unknown_fields=True):
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


def episode(given: Given, index: int, member: Member, library: Library) -> Outcome:
    """Read one episode; candidates go by reference, everything else stays as it is."""
    place = given.place(index, pointer(index), len(member.raw))
    try:
        check_utf8(member.raw)
        entries, unknown = decode.record(member.raw, list[Entry], rule="BS-09")
        if given.kind.split == "train":
            _require_candidates(entries)
    except BadRecord as bad:
        return reject(place, bad, member.raw)
    pieces = decode.decoder(list[dict[str, Raw]]).decode(member.raw)
    kept = [_without_candidates(piece, entry) for piece, entry in zip(pieces, entries, strict=True)]
    record = given.record(index, pointer(index), {"entries": kept, "unknown": list(unknown)})
    lists = [(number, entry.label_candidates or []) for number, entry in enumerate(entries) if entry.label_candidates]
    texts, column_batches = library.candidates(record, CACHED_LABELS, lists)
    return Loaded(place, [record, *texts], column_batches=column_batches)


def _require_candidates(entries: list[Entry]) -> None:
    """In train the reference code deletes the field, and stops where it is not there."""
    for number, entry in enumerate(entries):
        if entry.label_candidates is UNSET:
            raise BadRecord("BS-09", "no label_candidates", pointer(number))


def _without_candidates(piece: dict[str, Raw], entry: Entry) -> dict[str, Any]:
    """Put the number of candidates in the place of their list."""
    if not isinstance(entry.label_candidates, list):
        return piece
    return {**piece, "label_candidates": len(entry.label_candidates)}
