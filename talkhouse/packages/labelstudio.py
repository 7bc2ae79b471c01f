"""The package of ``--for labelstudio``: ``tasks.json`` to import, and ``label_config.xml`` for the project.

Labels are predictions: Label Studio shows them, and an annotator accepts or corrects them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from talkhouse.escaping import WORD_JOINER, visible
from talkhouse.export.pseudonyms import Pseudonyms
from talkhouse.export.row_stream import OnRows
from talkhouse.export.selection import Filters
from talkhouse.notes.notes_file import NoteNow
from talkhouse.notes.returned_files import COMMENT, NOTE_LABEL, NOTE_LABEL_OF_DIALOGUE, NOTE_TEXT, ONLY_WORDS
from talkhouse.packages import whole_dialogues
from talkhouse.packages.content import ExportPackage, PackageLayout, described_file
from talkhouse.warehouse.opened import Warehouse

_DIALOGUE = "dialogue"
_MODEL = "published labels"

_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def _plan(
    warehouse: Warehouse, name: str, filters: Filters, pseudonyms: Pseudonyms | None
) -> whole_dialogues.DialoguePackage:
    package = whole_dialogues.plan(warehouse, name, filters, pseudonyms)
    labels = [label for labels in package.schemes().values() for label in labels]
    return replace(package, notes=(*whole_dialogues.not_shown(package.left_over), *_written_out(labels)))


def _with_notes(package: ExportPackage, notes: Sequence[NoteNow]) -> whole_dialogues.DialoguePackage:
    noted = whole_dialogues.with_notes(package, notes)
    labels = [*noted.note_labels(is_of_turns=True), *noted.note_labels(is_of_turns=False)]
    return replace(noted, notes=(*noted.notes, *_written_out(labels)))


def _written_out(labels: Iterable[str]) -> Iterator[str]:
    if odd := [label for label in labels if _in_xml(label) != label]:
        yield f"written out, as XML can't hold them: control characters in the labels {', '.join(odd)}"


def _write(package: ExportPackage, folder: Path, on_rows: OnRows) -> list[dict[str, Any]]:
    assert isinstance(package, whole_dialogues.DialoguePackage)  # noqa: S101 - it is what ``plan`` returns
    config = folder / "label_config.xml"
    config.write_text(_config(package), encoding="utf-8")
    return [whole_dialogues.write_list(folder / "tasks.json", package, _task, on_rows), described_file(config, None)]


def _config(package: whole_dialogues.DialoguePackage) -> str:
    """Return the labelling interface: the dialogue, the labels of its turns, a choice of its own, and a comment."""
    view = ElementTree.Element("View")
    for level, labels in package.schemes().items():
        _add_labels(view, _name(level), labels, is_of_turns=level.is_of_turns)
    if package.noted is not None:
        _add_labels(view, NOTE_LABEL, [ONLY_WORDS, *package.note_labels(is_of_turns=True)], is_of_turns=True)
        if labels := package.note_labels(is_of_turns=False):
            _add_labels(view, NOTE_LABEL_OF_DIALOGUE, labels, is_of_turns=False)
    shown = {"name": _DIALOGUE, "value": f"${_DIALOGUE}", "layout": "dialogue", "nameKey": "author", "textKey": "text"}
    ElementTree.SubElement(view, "Paragraphs", shown)
    if package.noted is not None:
        ElementTree.SubElement(view, "TextArea", name=NOTE_TEXT, toName=_DIALOGUE, perRegion="true")
    ElementTree.SubElement(view, "TextArea", name=COMMENT, toName=_DIALOGUE)
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def _add_labels(view: ElementTree.Element, name: str, labels: Iterable[str], *, is_of_turns: bool) -> None:
    control, item = ("ParagraphLabels", "Label") if is_of_turns else ("Choices", "Choice")
    choice = ElementTree.SubElement(view, control, name=name, toName=_DIALOGUE)
    if name == NOTE_LABEL_OF_DIALOGUE:
        choice.set("choice", "multiple")
    for label in map(_in_xml, labels):
        # The editor would put what a task has of this name in the place of $name. It is known by its alias then.
        shown = {"value": label.replace("$", f"${WORD_JOINER}"), "alias": label} if "$" in label else {"value": label}
        ElementTree.SubElement(choice, item, shown)


def _in_xml(label: str) -> str:
    """Return a label that XML can hold: with a control character, as it is shown."""
    return visible(label) if _NOT_IN_XML.search(label) else label


def _name(level: whole_dialogues.SchemeTarget) -> str:
    """Return the name of a control: by one scheme, turns and dialogues may be labelled."""
    return level.name if level.is_of_turns else f"{level.name}_of_dialogue"


def _task(dialogue: Mapping[str, Any]) -> dict[str, Any]:
    turns = dialogue["turns"] or ()
    about = whole_dialogues.known((name, dialogue[name]) for name in ("dialogue_id", "corpus_id", "title", "language"))
    utterances = [{"author": turn["author"], "text": turn["text"], "turn_index": turn["turn_index"]} for turn in turns]
    by_model = {_MODEL: list(_results(dialogue)), "notes": list(_of_notes(dialogue))}
    predictions = [{"model_version": model, "result": results} for model, results in by_model.items() if results]
    return {"data": {**about, _DIALOGUE: utterances}, "predictions": predictions}


def _results(dialogue: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a region for each label of a turn, the whole of it, and a choice for each label of the dialogue."""
    places = _places(dialogue)
    for label in dialogue["labels"] or ():
        name = _name(whole_dialogues.SchemeTarget(label["scheme"], label["turn_index"] is not None))
        if label["turn_index"] is None:
            yield _result(name, name, "choices", {"choices": [_in_xml(label["label"])]})
        else:
            place, text = places[label["turn_index"]]
            of_turn = {**_region(place, text), "text": text, "paragraphlabels": [_in_xml(label["label"])]}
            yield _result(f"{place}-{name}", name, "paragraphlabels", of_turn)


def _of_notes(dialogue: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield for each note on a turn a region with its label and words, and for those on the dialogue what they say.

    What an annotator writes on a region has the region's id; a region without a label can't be.
    """
    whole = [note for note in dialogue["notes"] if note.turn_index is None]
    # A control of the whole has one result, with all that is chosen or written.
    if labels := sorted({_in_xml(note.label) for note in whole if note.label}):
        yield _result(NOTE_LABEL_OF_DIALOGUE, NOTE_LABEL_OF_DIALOGUE, "choices", {"choices": labels})
    if words := [note.note for note in whole if note.note]:
        yield _result(COMMENT, COMMENT, "textarea", {"text": words})
    places = _places(dialogue)
    for note in dialogue["notes"]:
        if note.turn_index is None:
            continue
        name, (place, text) = f"note-{note.note_id}", places[note.turn_index]
        region = _region(place, text)
        labels = [_in_xml(note.label or ONLY_WORDS)]
        yield _result(name, NOTE_LABEL, "paragraphlabels", {**region, "text": text, "paragraphlabels": labels})
        if note.note:
            yield _result(name, NOTE_TEXT, "textarea", {**region, "text": [note.note]})


def _places(dialogue: Mapping[str, Any]) -> dict[int, tuple[int, str]]:
    """Return the paragraph and the text of each turn."""
    return {turn["turn_index"]: (place, turn["text"]) for place, turn in enumerate(dialogue["turns"] or ())}


def _result(name: str, control: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"id": name, "from_name": control, "to_name": _DIALOGUE, "type": kind, "value": value}


def _region(place: int, text: str) -> dict[str, Any]:
    """Return the whole of a paragraph; offsets are as the editor counts them there: as JavaScript does, in UTF-16.

    (Of its Text, in code points.)
    """
    length = len(text.encode("utf-16-le", "surrogatepass")) // 2
    return {"start": str(place), "end": str(place), "startOffset": 0, "endOffset": length}


LAYOUT = PackageLayout(_plan, _write, _with_notes)
