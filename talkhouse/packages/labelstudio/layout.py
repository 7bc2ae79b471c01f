"""The package of ``--for labelstudio``: ``tasks.json`` to import, and ``label_config.xml`` for the project.

Labels are predictions: Label Studio shows them, and an annotator accepts or corrects them.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from talkhouse.packages.content import Package
from talkhouse.packages.layout import Layout, described_file
from talkhouse.packages.whole_dialogues import DialoguePackage, known, plan, write_list
from talkhouse.query.row_stream import OnRows

_DIALOGUE = "dialogue"
_MODEL = "published labels"


def _write(package: Package, folder: Path, on_rows: OnRows) -> list[dict[str, Any]]:
    assert isinstance(package, DialoguePackage)  # noqa: S101 - it is what ``plan`` returns
    config = folder / "label_config.xml"
    config.write_text(_config(package.schemes()), encoding="utf-8")
    return [write_list(folder / "tasks.json", package, _task, on_rows), described_file(config, None)]


def _config(schemes: Mapping[str, list[str]]) -> str:
    """Return the labelling interface: the dialogue, the labels of its schemes, and a comment."""
    view = ElementTree.Element("View")
    for scheme, labels in schemes.items():
        choice = ElementTree.SubElement(view, "ParagraphLabels", name=_name(scheme), toName=_DIALOGUE)
        for label in labels:
            ElementTree.SubElement(choice, "Label", value=label)
    shown = {"name": _DIALOGUE, "value": f"${_DIALOGUE}", "layout": "dialogue", "nameKey": "author", "textKey": "text"}
    ElementTree.SubElement(view, "Paragraphs", shown)
    ElementTree.SubElement(view, "TextArea", name="comment", toName=_DIALOGUE)
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def _name(scheme: str) -> str:
    return scheme.replace(".", "_")


def _task(dialogue: Mapping[str, Any]) -> dict[str, Any]:
    turns = dialogue["turns"] or ()
    about = known((name, dialogue[name]) for name in ("dialogue_id", "corpus_id", "title", "language"))
    said = [{"author": turn["author"], "text": turn["text"]} for turn in turns]
    results = list(_results(dialogue))
    predictions = [{"model_version": _MODEL, "result": results}] if results else []
    return {"data": {**about, _DIALOGUE: said}, "predictions": predictions}


def _results(dialogue: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a region for each label: the whole of its turn. Offsets are as JavaScript counts, in UTF-16."""
    places = {turn["turn_index"]: (place, turn["text"]) for place, turn in enumerate(dialogue["turns"] or ())}
    for label in dialogue["labels"] or ():
        if label["turn_index"] not in places or not label["label"]:
            continue
        place, text = places[label["turn_index"]]
        yield {
            "id": f"{place}-{_name(label['scheme'])}",
            "from_name": _name(label["scheme"]),
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


LAYOUT = Layout(plan, _write)
