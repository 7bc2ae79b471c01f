"""Records that were decoded many at a time (``typed``), as ``dialogue_rows`` takes those that were read one by one."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.documents.dialogue_rows import Dialogues, OfRecord
from talkhouse.ingest.declared.documents.labels import Given, Labels
from talkhouse.ingest.declared.documents.member_parts import read_member
from talkhouse.ingest.declared.documents.replies_and_calls import results_without_calls
from talkhouse.ingest.declared.documents.talk import Piece, Said, Talk
from talkhouse.ingest.declared.documents.typed import Typed
from talkhouse.ingest.declared.record_files.content import RawRecord
from talkhouse.ingest.declared.shapes import Members, members_of
from talkhouse.ingest.decode import BadRecord, check, check_depth, decoder, dump, pointer
from talkhouse.ingest.outcomes import ReaderFinding

_OBJECTS = decoder(list[dict[str, Raw]])


def typed_dialogues(typed: Typed, block: Sequence[RawRecord], labels: Sequence[Labels]) -> Dialogues:
    """Return the records of one form in a block, but for those in which something is malformed or to be found."""
    records, turns = typed.records, typed.turns.drop("role", strict=False).rename({"ours": "role", "layout": "shape"})
    shapes = [one.shape for one in typed.layouts]
    rests = [one.rest for one in typed.layouts]
    if not (labels or typed.layout.rest or any(rests) or any(one.parts for one in typed.layouts)):
        return Dialogues(records, turns, shapes, {}, dict.fromkeys(records["n"], OfRecord(typed.layout.shape, {})))
    read: dict[int, _Read] = {}
    names = [name for name in ("text", "native_id") if name in turns.columns]
    for n, forms, *said in turns.group_by("n", maintain_order=True).agg("shape", *names).iter_rows():
        try:
            read[n] = _read(typed, rests, labels, block[n].raw, forms, *said)
        except (BadRecord, msgspec.DecodeError):
            continue
    if not _may_be_kept(chain.from_iterable(one.kept for one in read.values())):
        read = {n: one for n, one in read.items() if _may_be_kept(one.kept)}
    records, turns = (rows.filter(rows["n"].is_in(list(read))) for rows in (records, turns))
    rest = pl.Series([dump(one) for n in read for one in read[n].rest], dtype=pl.String)
    return Dialogues(
        records,
        turns.with_columns(rest=rest),
        shapes,
        {(n, i): pieces for n, one in read.items() for i, pieces in enumerate(one.parts) if pieces},
        {n: OfRecord(typed.layout.shape, one.extra, one.labels) for n, one in read.items()},
    )


class _Read(NamedTuple):
    """What is not in columns of one record."""

    extra: Members
    rest: Sequence[Members]
    """What goes to ``extra`` of each message."""
    parts: Sequence[Sequence[Piece]]
    labels: Sequence[Given]
    kept: Sequence[Raw]
    """What has to be checked."""


def _read(
    typed: Typed,
    rests: Sequence[Sequence[tuple[str, str]]],
    labels: Sequence[Labels],
    raw: bytes,
    forms: Sequence[int],
    texts: Sequence[str],
    native_ids: Sequence[str | None] = (),
) -> _Read:
    """Read what is not in columns; BadRecord where there is something to find in it."""
    check_depth(raw)
    members = members_of(raw)
    extra = {name: members[key] for name, key in typed.layout.rest}
    messages: list[Members] = _OBJECTS.decode(members[typed.list_key])
    rest = [{name: one[key] for name, key in rests[form]} for one, form in zip(messages, forms, strict=True)]
    of_parts = [{key: one[key] for key in typed.layouts[form].parts} for one, form in zip(messages, forms, strict=True)]
    parts = [[piece for key, part in own.items() for piece in _pieces(key, part)] for own in of_parts]
    if next(results_without_calls([Said("", "", "", parts=one) for one in parts if one]), None):
        raise BadRecord("GF-16", "a result of no call")
    given = _given(labels, members, typed.list_key, messages, texts, native_ids) if labels else ()
    return _Read(extra, rest, parts, given, [kept for own in (extra, *rest, *of_parts) for kept in own.values()])


def _given(
    labels: Sequence[Labels],
    members: Members,
    list_key: str,
    messages: Sequence[Members],
    texts: Sequence[str],
    native_ids: Sequence[str | None],
) -> list[Given]:
    """Return the labels of a record; BadRecord where there is something to find in them."""
    at, findings = pointer(list_key), list[ReaderFinding]()
    said = [Said("", text, f"{at}/{index}") for index, text in enumerate(texts)]
    for one, native_id in zip(said, native_ids, strict=False):
        one.native_id = native_id
    talk = Talk(said, messages=dict(enumerate(messages)))
    given = [one for each in labels for one in each.given(members, talk, findings)]
    if findings:
        raise BadRecord("GF-01", "a label that has to be looked at")
    return given


def _pieces(key: str, raw: Raw) -> list[Piece]:
    pieces = read_member(key, raw)
    if pieces is None:
        raise BadRecord("GF-01", "no parts")
    return pieces


def _may_be_kept(raws: Iterable[Raw]) -> bool:
    """Whether no object in any of the texts has a key twice, and all else is as ``check`` wants it."""
    try:
        check(b"[" + b",".join(map(bytes, raws)) + b"]")
    except BadRecord:
        return False
    return True
