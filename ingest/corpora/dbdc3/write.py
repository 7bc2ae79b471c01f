"""Rows back to dialogue logs and background paragraphs: equal in every value, keys in published order."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import msgspec

from ingest.corpora.dbdc3.logs import CONTEXT, Label, Log, LogTurn
from ingest.corpora.dbdc3.talk import BREAKDOWN, ROLES, UNGRAMMATICAL
from ingest.corpus import Published
from ingest.rows import Annotation, Turn

_FLAGS = {role: flag for flag, role in ROLES.items()}
_SPACES = 4


def write(records: Iterable[Published]) -> Iterator[tuple[str, bytes]]:
    """Give (path inside the corpus's folder, bytes) of every file; archives are folders of their members."""
    for published in records:
        yield published.path, published.mark + _content(published)


def _content(published: Published) -> bytes:
    record = published.record
    if record is None:
        return published.raw or b""
    if published.file.source_file_id.endswith(CONTEXT):
        background: str = (_extra(published.dialogue) | _extra(record))["background"]
        return background.encode()
    return msgspec.json.format(msgspec.json.encode(_log(published)), indent=_SPACES)


def _log(published: Published) -> dict[str, Any]:
    """Build one log: first as the tables have it, then with what this record states differently."""
    record = published.record
    assert record is not None and published.dialogue is not None  # noqa: S101, PT018 - a log is a dialogue
    extra = _extra(record)
    user = next(person for person in published.participants if person.role == "user")
    log: dict[str, Any] = {
        "dialogue-id": record.native_id,
        "group-id": _extra(published.dialogue).get("group-id", ""),
        "speaker-id": published.speakers[user.speaker_id].native_id,
        "turns": [],
    }
    by_turn = defaultdict(list)
    for annotation in published.annotations:
        by_turn[annotation.turn_index].append(annotation)
    log["turns"] = [_turn(turn, by_turn[turn.turn_index]) for turn in published.turns]
    for place, value in {
        **extra.get("lists", {}),
        **extra.get("differs", {}),
        **extra.get("unknown", {}),
    }.items():
        parent, key = _resolve(log, place)
        parent[key] = value
    for place in extra.get("absent", ()):
        parent, key = _resolve(log, place)
        parent.pop(key, None)
    return _ordered(log, extra)


def _turn(turn: Turn, annotations: list[Annotation]) -> dict[str, Any]:
    extra = _extra(turn)
    said_at = turn.said_at.strftime("%Y-%m-%d %H:%M:%S") if turn.said_at else ""
    return {
        "turn-index": extra.get("turn-index", turn.turn_index),
        "speaker": extra.get("speaker", _FLAGS[turn.role]),
        "time": extra.get("time", said_at),
        "annotation-id": turn.native_id,
        "utterance": turn.text,
        "annotations": [_label(list(rows)) for _, rows in groupby(annotations, key=lambda row: row.annotator_index)],
    }


def _label(rows: list[Annotation]) -> dict[str, Any]:
    """Build one annotator's label from its rows, one per scheme."""
    by_scheme = {row.scheme: row for row in rows}
    breakdown = by_scheme[BREAKDOWN]
    extra = _extra(breakdown)
    grammar = by_scheme[UNGRAMMATICAL].label if UNGRAMMATICAL in by_scheme else extra.get("ungrammatical-sentence", "")
    return {
        "annotator-id": breakdown.annotator_id,
        "breakdown": breakdown.label,
        "ungrammatical-sentence": grammar,
        "comment": extra.get("comment", ""),
    }


def _ordered(log: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """Put keys in published order, and leave out those that no object of the record has."""
    turn_fields, label_fields = extra.get("turn_fields", []), extra.get("label_fields", [])
    for turn in log["turns"]:
        if turn.get("annotations"):
            turn["annotations"] = [_sorted(label, label_fields) for label in turn["annotations"]]
    log["turns"] = [_sorted(turn, turn_fields) for turn in log["turns"]]
    return _sorted(log, extra["fields"])


_KNOWN = {field.encode_name for kind in (Log, LogTurn, Label) for field in msgspec.structs.fields(kind)}


def _sorted(value: dict[str, Any], fields: list[str]) -> dict[str, Any]:
    rest = [key for key in value if key not in fields and key not in _KNOWN]
    return {key: value[key] for key in [*fields, *rest] if key in value}


def _resolve(log: dict[str, Any], place: str) -> tuple[Any, Any]:
    """Follow a JSON pointer to the container of its last token."""
    *path, last = (token.replace("~1", "/").replace("~0", "~") for token in place.split("/")[1:])
    value: Any = log
    for token in path:
        value = value[int(token)] if isinstance(value, list) else value[token]
    return value, int(last) if isinstance(value, list) else last


def _extra(row: Any) -> dict[str, Any]:
    """Decode ``extra``."""
    if row is None or row.extra is None:
        return {}
    found: dict[str, Any] = msgspec.json.decode(row.extra)
    return found
