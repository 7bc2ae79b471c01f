"""The package of ``--for labelstudio``: ``tasks.json`` to import, and ``label_config.xml`` for the project.

Labels are predictions: Label Studio shows them, and an annotator accepts or corrects them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from talkhouse.packages.content import Package
from talkhouse.packages.layout import Layout, described_file
from talkhouse.packages.whole_dialogues import DialoguePackage, Level, known, not_shown, plan, write_list
from talkhouse.query.pseudonyms import Pseudonyms
from talkhouse.query.row_stream import OnRows
from talkhouse.query.selection import Filters
from talkhouse.warehouse.opened import Warehouse

_DIALOGUE = "dialogue"
_MODEL = "published labels"


def _plan(warehouse: Warehouse, name: str, filters: Filters, pseudonyms: Pseudonyms | None) -> DialoguePackage:
    package = plan(warehouse, name, filters, pseudonyms)
    return replace(package, notes=tuple(not_shown(package.left_over)))


def _write(package: Package, folder: Path, on_rows: OnRows) -> list[dict[str, Any]]:
    assert isinstance(package, DialoguePackage)  # noqa: S101 - it is what ``plan`` returns
    config = folder / "label_config.xml"
    config.write_text(_config(package.schemes()), encoding="utf-8")
    return [write_list(folder / "tasks.json", package, _task, on_rows), described_file(config, None)]


def _config(schemes: Mapping[Level, list[str]]) -> str:
    """Return the labelling interface: the dialogue, the labels of its turns, a choice of its own, and a comment."""
    view = ElementTree.Element("View")
    for level, labels in schemes.items():
        control, item = ("ParagraphLabels", "Label") if level.is_of_turns else ("Choices", "Choice")
        choice = ElementTree.SubElement(view, control, name=_name(level), toName=_DIALOGUE)
        for label in labels:
            ElementTree.SubElement(choice, item, value=label)
    shown = {"name": _DIALOGUE, "value": f"${_DIALOGUE}", "layout": "dialogue", "nameKey": "author", "textKey": "text"}
    ElementTree.SubElement(view, "Paragraphs", shown)
    ElementTree.SubElement(view, "TextArea", name="comment", toName=_DIALOGUE)
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def _name(level: Level) -> str:
    """Return the name of a control: by one scheme, turns and dialogues may be labelled."""
    return level.name if level.is_of_turns else f"{level.name}_of_dialogue"


def _task(dialogue: Mapping[str, Any]) -> dict[str, Any]:
    turns = dialogue["turns"] or ()
    about = known((name, dialogue[name]) for name in ("dialogue_id", "corpus_id", "title", "language"))
    said = [{"author": turn["author"], "text": turn["text"]} for turn in turns]
    results = list(_results(dialogue))
    predictions = [{"model_version": _MODEL, "result": results}] if results else []
    return {"data": {**about, _DIALOGUE: said}, "predictions": predictions}


def _results(dialogue: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a region for each label of a turn, the whole of it, and a choice for each label of the dialogue.

    Offsets are as the editor counts them in paragraphs: as JavaScript does, in UTF-16 (of its Text, in code points).
    """
    places = {turn["turn_index"]: (place, turn["text"]) for place, turn in enumerate(dialogue["turns"] or ())}
    for label in dialogue["labels"] or ():
        name = _name(Level(label["scheme"], label["turn_index"] is not None))
        if label["turn_index"] is None:
            choice = {"choices": [label["label"]]}
            yield {"id": name, "from_name": name, "to_name": _DIALOGUE, "type": "choices", "value": choice}
            continue
        place, text = places[label["turn_index"]]
        yield {
            "id": f"{place}-{name}",
            "from_name": name,
            "to_name": _DIALOGUE,
            "type": "paragraphlabels",
            "value": {
                "start": str(place),
                "end": str(place),
                "startOffset": 0,
                "endOffset": len(text.encode("utf-16-le", "surrogatepass")) // 2,
                "text": text,
                "paragraphlabels": [label["label"]],
            },
        }


LAYOUT = Layout(_plan, _write)
