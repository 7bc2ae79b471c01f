"""A file to its dialogues without decoding them; a dialogue decoded strictly."""

from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Raw

from talkhouse.ingest import decode, json_members
from talkhouse.ingest.corpora.mpchat.files import RESPONSE, SPEAKER, TASK_FILES, Nesting, TaskFile
from talkhouse.ingest.corpora.mpchat.format import SPLITS, SourceDialogue
from talkhouse.ingest.decode import BadRecord


class Parsed(NamedTuple):
    """A dialogue, its keys in published order, and the fields that no documentation names, by pointer."""

    dialogue: SourceDialogue
    fields: list[str]
    unknown: dict[str, Raw]
    empty: dict[str, Any]
    """By pointer, the nulls and empty lists that could not be told from the rows when they are written back."""


def split_file(raw: memoryview) -> tuple[dict[str, Raw], dict[str, list[Raw]]]:
    """Split a file into its fields, and its splits into dialogues, without a copy; BadRecord if it has none."""
    if bytes(raw[:1_000]).lstrip()[:1] == b"[":
        raise BadRecord("MP-01", "a bare list instead of an object with train, val and test")
    fields = decode.unique(json_members.views(raw))
    missing = [name for name in SPLITS if name not in fields]
    if missing:
        raise BadRecord("MP-01", f"no {' and no '.join(missing)}, but {', '.join(fields) or 'nothing'}")
    splits = {}
    for name, piece in fields.items():
        if name not in SPLITS:
            check_unknown(decode.pointer(name), bytes(piece))
        elif bytes(memoryview(piece)[:1]) == b"[":
            splits[name] = json_members.items(piece, raw)
        else:
            raise BadRecord("MP-01", "no list of dialogues", f"/{name}")
    return fields, splits


def parse(raw: bytes, task_file: TaskFile, split: str) -> Parsed:
    """Decode one dialogue; raises BadRecord: MP-02, MP-06, MP-11, or a common rule."""
    pieces = json_members.fields(raw)
    known = _FIELDS[task_file.subset]
    unknown = {decode.pointer(key): piece for key, piece in pieces.items() if key not in known}
    for pointer, piece in unknown.items():
        check_unknown(pointer, bytes(piece))
    text = msgspec.json.encode({key: pieces[key] for key in pieces if key in known}) if unknown else raw
    try:
        dialogue = decode.decoder(task_file.dialogue).decode(text)
    except msgspec.ValidationError as error:
        bad = decode.shape_problem(error, "MP-02")
        rule = "MP-11" if bad.pointer.startswith("/messages/") else "MP-02"
        raise BadRecord(rule, bad.detail, bad.pointer) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise decode.json_problem(raw, error) from error
    _check_lengths(dialogue, split)
    return Parsed(dialogue, list(pieces), unknown, _unusually_empty(task_file, dialogue))


def check_unknown(pointer: str, piece: bytes) -> None:
    """Raise BadRecord where a field that no documentation names could not be kept: TH-01, TH-02 or TH-04."""
    try:
        decode.check_depth(piece)
        piece.decode()
        decode.decoder(Raw).decode(piece)  # a number beyond any double is no defect
    except BadRecord as bad:
        raise BadRecord(bad.rule, bad.detail, pointer) from bad
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        problem = decode.json_problem(piece, error)
        raise BadRecord(problem.rule, problem.detail, pointer + problem.pointer) from error


def _unusually_empty(task_file: TaskFile, dialogue: SourceDialogue) -> dict[str, Any]:
    """As a rule no list is null, a turn without elements has [], and a turn without a gold persona has null."""
    empty: dict[str, Any] = {}
    for name in (*_MESSAGE_FIELDS, *(field.name for field in task_file.lists), task_file.candidates):
        value = getattr(dialogue, name, UNSET)
        if value is None:
            empty[f"/{name}"] = None
        elif name in (*_PER_TURN, task_file.candidates) and value == []:
            empty[f"/{name}"] = []
        elif name in _PER_TURN:
            empty |= {f"/{name}/{turn}": None for turn, items in enumerate(value or ()) if items is None}
        elif name == SPEAKER.candidates:
            empty |= {f"/{name}/{author}": items for author, items in enumerate(value or ()) if not items}
    return empty


def _check_lengths(dialogue: SourceDialogue, split: str) -> None:
    """Raise BadRecord where a list has not one item per message; an empty candidate list in train counts as none."""
    turns = len(dialogue.messages)
    if not turns:
        raise BadRecord("MP-11", "no messages", "/messages")
    for name in ("authors", *_ALIGNED):
        value = getattr(dialogue, name, UNSET)
        if value is UNSET or value is None or (value == [] and split == "train" and name in _CANDIDATES):
            continue
        if len(value) != turns:
            raise BadRecord("MP-02", f"{len(value)} items for {turns} messages", f"/{name}")
    if dialogue.has_image and not isinstance(dialogue.file_name, str):
        raise BadRecord("MP-06", "has_image, and no file_name", "/file_name")


_FIELDS = {
    task_file.subset: {field.name for field in msgspec.structs.fields(task_file.dialogue)}
    for task_file in TASK_FILES.values()
}
_CANDIDATES = frozenset(task_file.candidates for task_file in TASK_FILES.values())
_MESSAGE_FIELDS = ("message_ids", "created_utcs")
_PER_TURN = frozenset(
    {field.name for task_file in TASK_FILES.values() for field in task_file.lists if field.nesting is Nesting.PER_TURN}
    | {RESPONSE.candidates}
)
_ALIGNED = (*_MESSAGE_FIELDS, *sorted(_PER_TURN), "gpp_grounded_persona")
