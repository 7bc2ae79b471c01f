"""The package of ``--for argilla``: ``records.json``, which ``dataset.records.from_json`` reads, and ``dataset.json``.

The settings, which ``Settings.from_json`` reads, have a field for the dialogue and a question for each of its labels,
which records bring as suggestions. Of a turn in a chat, Argilla has no labels.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from talkhouse.export.pseudonyms import Pseudonyms
from talkhouse.export.row_stream import OnRows
from talkhouse.export.selection import Filters
from talkhouse.notes.notes_file import Note, NoteNow
from talkhouse.notes.returned_files import COMMENT, NOTE_LABEL
from talkhouse.packages import whole_dialogues
from talkhouse.packages.content import ExportPackage, PackageLayout, counted, described_file
from talkhouse.warehouse.opened import Warehouse

_DIALOGUE = "dialogue"
_AGENT = "published labels"
_TEXT = {"type": "text", "use_markdown": False}


def _plan(
    warehouse: Warehouse, name: str, filters: Filters, pseudonyms: Pseudonyms | None
) -> whole_dialogues.DialoguePackage:
    package = whole_dialogues.plan(warehouse, name, filters, pseudonyms)
    of_turns = sorted(level.scheme for level in package.schemes() if level.is_of_turns)
    notes = [f"left out: labels of turns by {', '.join(of_turns)} (Argilla labels whole chats)"] if of_turns else []
    return replace(package, notes=(*notes, *whole_dialogues.not_shown(package.left_over)))


def _with_notes(package: ExportPackage, notes: Sequence[NoteNow]) -> whole_dialogues.DialoguePackage:
    noted = whole_dialogues.with_notes(package, notes)
    of_turns = sum(note.turn_index is not None for those in (noted.noted or {}).values() for note in those)
    left_out = [f"left out: {counted(of_turns, 'note')} on turns (Argilla labels whole chats)"] if of_turns else []
    return replace(noted, notes=(*noted.notes, *left_out))


def _write(package: ExportPackage, folder: Path, on_rows: OnRows) -> list[dict[str, Any]]:
    assert isinstance(package, whole_dialogues.DialoguePackage)  # noqa: S101 - it is what ``plan`` returns
    dataset = folder / "dataset.json"
    labels = package.note_labels(is_of_turns=False)
    text = json.dumps(_settings(package.schemes(), labels), ensure_ascii=False, indent=2)
    dataset.write_text(text + "\n", encoding="utf-8")
    record = partial(_record, is_list=len(labels) > 1)
    return [
        whole_dialogues.write_list(folder / "records.json", package, record, on_rows),
        described_file(dataset, None),
    ]


def _settings(schemes: Mapping[whole_dialogues.SchemeTarget, list[str]], note_labels: list[str]) -> dict[str, Any]:
    """Return the settings of a dataset: the dialogue, a question for each scheme and for notes, and a comment."""
    questions = [
        _question(level.name, is_required=True, **_answers(labels))
        for level, labels in schemes.items()
        if not level.is_of_turns
    ]
    # A dataset has at least one question that has to be answered.
    comment = _question(COMMENT, is_required=not questions, **_TEXT)
    if note_labels:
        questions.append(_question(NOTE_LABEL, is_required=False, **_answers(note_labels, "multi_label_selection")))
    field = {
        "name": _DIALOGUE,
        "title": "Dialogue",
        "required": True,
        "settings": {"type": "chat", "use_markdown": False},
    }
    return {"fields": [field], "questions": [*questions, comment], "allow_extra_metadata": True}


def _answers(labels: list[str], kind: str = "label_selection") -> dict[str, Any]:
    """Return the options to choose from; a single label offers none."""
    if len(labels) == 1:
        return _TEXT
    return {"type": kind, "options": [{"value": label, "text": label} for label in labels]}


def _question(name: str, *, is_required: bool, **settings: Any) -> dict[str, Any]:
    return {"name": name, "title": name, "required": is_required, "settings": settings}


def _record(dialogue: Mapping[str, Any], *, is_list: bool) -> dict[str, Any]:
    turns = dialogue["turns"] or ()
    facts = (("corpus", dialogue["corpus_id"]), ("title", dialogue["title"]), ("language", dialogue["language"]))
    return {
        "id": dialogue["dialogue_id"],
        "fields": {_DIALOGUE: [{"role": turn["author"], "content": turn["text"]} for turn in turns]},
        "metadata": whole_dialogues.known((*facts, ("turns", len(turns)))),
        "suggestions": {
            whole_dialogues.SchemeTarget(label["scheme"], is_of_turns=False).name: {
                "value": label["label"],
                "agent": _AGENT,
            }
            for label in dialogue["labels"] or ()
            if label["turn_index"] is None
        }
        | _of_notes(dialogue["notes"], is_list=is_list),
        "responses": {},
        "vectors": {},
    }


def _of_notes(notes: Sequence[Note], *, is_list: bool) -> dict[str, Any]:
    """Return the suggestions of notes on a dialogue: their labels, ``is_list`` if these are chosen from, and words."""
    whole = [note for note in notes if note.turn_index is None]
    labels = sorted({note.label for note in whole if note.label})
    words = [note.note for note in whole if note.note]
    values = {NOTE_LABEL: labels if is_list else "".join(labels), COMMENT: "\n\n".join(words)}
    return {question: {"value": value, "agent": "notes"} for question, value in values.items() if value}


LAYOUT = PackageLayout(_plan, _write, _with_notes)
