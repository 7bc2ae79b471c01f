"""Record sets whose records stand in the description itself: the splits of a view, and the labels of a column."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from talkhouse.packages.content import Classes, SplitRows

_STANDARD = {"train": "cr:TrainingSplit", "validation": "cr:ValidationSplit", "test": "cr:TestSplit"}


def splits(node_id: str, of: Iterable[SplitRows]) -> dict[str, Any]:
    """Describe the splits of a view: their names as files have them, and what kind of split each is."""
    return {
        "@type": "cr:RecordSet",
        "@id": node_id,
        "name": node_id,
        "dataType": "cr:Split",
        "key": {"@id": f"{node_id}/name"},
        "field": [
            _field(node_id, "name", "sc:Text", "The split's name, as the files have it."),
            _field(node_id, "url", "sc:URL", "What kind of split it is; null: none of the usual ones."),
        ],
        "data": _records(node_id, ({"name": split.name, "url": _STANDARD.get(split.standard or "")} for split in of)),
    }


def labels(node_id: str, classes: Sequence[Classes]) -> dict[str, Any]:
    """Describe the labels of columns that have the same ones: number from 0, name and meaning, as they are declared."""
    columns = ", ".join(each.column for each in classes)
    scheme = f", which {classes[0].scheme} declares" if classes[0].scheme else ""
    records = (
        {"number": number, "name": label.label, "meaning": label.meaning}
        for number, label in enumerate(classes[0].labels)
    )
    return {
        "@type": "cr:RecordSet",
        "@id": node_id,
        "name": node_id,
        "description": f"The labels of {columns}{scheme}.",
        "dataType": "sc:Enumeration",
        "key": {"@id": f"{node_id}/number"},
        "field": [
            _field(node_id, "number", "cr:Int64", "Its place among them, from 0."),
            _field(node_id, "name", "sc:Text", "The label."),
            _field(node_id, "meaning", "sc:Text", "What it means; null: no declaration says it."),
        ],
        "data": _records(node_id, records),
    }


def _field(node_id: str, name: str, data_type: str, description: str) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{node_id}/{name}",
        "name": name,
        "description": description,
        "dataType": data_type,
    }


def _records(node_id: str, records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{f"{node_id}/{name}": value for name, value in record.items()} for record in records]
