"""The package of ``--for argilla``: ``records.json``, which ``dataset.records.from_json`` reads, and ``dataset.json``.

The settings, which ``Settings.from_json`` reads, have a field for the dialogue and a question for each of its labels,
which records bring as suggestions. Of a turn in a chat, Argilla has no labels.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from talkhouse.packages.content import ExportPackage, PackageLayout, described_file
from talkhouse.packages.whole_dialogues import DialoguePackage, SchemeTarget, known, not_shown, plan, write_list
from talkhouse.query.pseudonyms import Pseudonyms
from talkhouse.query.row_stream import OnRows
from talkhouse.query.selection import Filters
from talkhouse.warehouse.opened import Warehouse

_DIALOGUE = "dialogue"
_AGENT = "published labels"
_TEXT = {"type": "text", "use_markdown": False}


def _plan(warehouse: Warehouse, name: str, filters: Filters, pseudonyms: Pseudonyms | None) -> DialoguePackage:
    package = plan(warehouse, name, filters, pseudonyms)
    of_turns = sorted(level.scheme for level in package.schemes() if level.is_of_turns)
    notes = [f"left out: labels of turns by {', '.join(of_turns)} (Argilla labels whole chats)"] if of_turns else []
    return replace(package, notes=(*notes, *not_shown(package.left_over)))


def _write(package: ExportPackage, folder: Path, on_rows: OnRows) -> list[dict[str, Any]]:
    assert isinstance(package, DialoguePackage)  # noqa: S101 - it is what ``plan`` returns
    dataset = folder / "dataset.json"
    text = json.dumps(_settings(package.schemes()), ensure_ascii=False, indent=2)
    dataset.write_text(text + "\n", encoding="utf-8")
    return [write_list(folder / "records.json", package, _record, on_rows), described_file(dataset, None)]


def _settings(schemes: Mapping[SchemeTarget, list[str]]) -> dict[str, Any]:
    """Return what a dataset has: the dialogue, a question for each scheme of dialogues, and a comment."""
    questions = [
        _question(level.name, is_required=True, **_answers(labels))
        for level, labels in schemes.items()
        if not level.is_of_turns
    ]
    # A dataset has at least one question that has to be answered.
    comment = _question("comment", is_required=not questions, **_TEXT)
    field = {
        "name": _DIALOGUE,
        "title": "Dialogue",
        "required": True,
        "settings": {"type": "chat", "use_markdown": False},
    }
    return {"fields": [field], "questions": [*questions, comment], "allow_extra_metadata": True}


def _answers(labels: list[str]) -> dict[str, Any]:
    """Return what is chosen from; of a single label nothing can be."""
    if len(labels) == 1:
        return _TEXT
    return {"type": "label_selection", "options": [{"value": label, "text": label} for label in labels]}


def _question(name: str, *, is_required: bool, **settings: Any) -> dict[str, Any]:
    return {"name": name, "title": name, "required": is_required, "settings": settings}


def _record(dialogue: Mapping[str, Any]) -> dict[str, Any]:
    turns = dialogue["turns"] or ()
    facts = (("corpus", dialogue["corpus_id"]), ("title", dialogue["title"]), ("language", dialogue["language"]))
    return {
        "id": dialogue["dialogue_id"],
        "fields": {_DIALOGUE: [{"role": turn["author"], "content": turn["text"]} for turn in turns]},
        "metadata": known((*facts, ("turns", len(turns)))),
        "suggestions": {
            SchemeTarget(label["scheme"], is_of_turns=False).name: {"value": label["label"], "agent": _AGENT}
            for label in dialogue["labels"] or ()
            if label["turn_index"] is None
        },
        "responses": {},
        "vectors": {},
    }


LAYOUT = PackageLayout(_plan, _write)
