"""The package of ``--for labelstudio``: ``tasks.json`` to import, and ``label_config.xml`` for the project.

Labels are predictions: Label Studio shows them, and an annotator accepts or corrects them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from talkhouse.packages.content import ExportPackage, PackageLayout, described_file
from talkhouse.packages.whole_dialogues import DialoguePackage, SchemeTarget, known, not_shown, plan, write_list
from talkhouse.query.pseudonyms import Pseudonyms
from talkhouse.query.row_stream import OnRows
from talkhouse.query.selection import Filters
from talkhouse.visible import WORD_JOINER, visible
from talkhouse.warehouse.opened import Warehouse

_DIALOGUE = "dialogue"
_MODEL = "published labels"

_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def _plan(warehouse: Warehouse, name: str, filters: Filters, pseudonyms: Pseudonyms | None) -> DialoguePackage:
    package = plan(warehouse, name, filters, pseudonyms)
    odd = [label for labels in package.schemes().values() for label in labels if _in_xml(label) != label]
    notes = [f"written out, as XML can't hold them: control characters in the labels {', '.join(odd)}"] if odd else []
    return replace(package, notes=(*not_shown(package.left_over), *notes))


def _write(package: ExportPackage, folder: Path, on_rows: OnRows) -> list[dict[str, Any]]:
    assert isinstance(package, DialoguePackage)  # noqa: S101 - it is what ``plan`` returns
    config = folder / "label_config.xml"
    config.write_text(_config(package.schemes()), encoding="utf-8")
    return [write_list(folder / "tasks.json", package, _task, on_rows), described_file(config, None)]


def _config(schemes: Mapping[SchemeTarget, list[str]]) -> str:
    """Return the labelling interface: the dialogue, the labels of its turns, a choice of its own, and a comment."""
    view = ElementTree.Element("View")
    for level, labels in schemes.items():
        control, item = ("ParagraphLabels", "Label") if level.is_of_turns else ("Choices", "Choice")
        choice = ElementTree.SubElement(view, control, name=_name(level), toName=_DIALOGUE)
        for label in map(_in_xml, labels):
            # The editor would put what a task has of this name in the place of $name. It is known by its alias then.
            shown = (
                {"value": label.replace("$", f"${WORD_JOINER}"), "alias": label} if "$" in label else {"value": label}
            )
            ElementTree.SubElement(choice, item, shown)
    shown = {"name": _DIALOGUE, "value": f"${_DIALOGUE}", "layout": "dialogue", "nameKey": "author", "textKey": "text"}
    ElementTree.SubElement(view, "Paragraphs", shown)
    ElementTree.SubElement(view, "TextArea", name="comment", toName=_DIALOGUE)
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def _in_xml(label: str) -> str:
    """Return a label that XML can hold: with a control character, as it is shown."""
    return visible(label) if _NOT_IN_XML.search(label) else label


def _name(level: SchemeTarget) -> str:
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
        name = _name(SchemeTarget(label["scheme"], label["turn_index"] is not None))
        if label["turn_index"] is None:
            choice = {"choices": [_in_xml(label["label"])]}
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
                "paragraphlabels": [_in_xml(label["label"])],
            },
        }


LAYOUT = PackageLayout(_plan, _write)
