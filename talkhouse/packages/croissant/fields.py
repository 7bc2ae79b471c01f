"""The columns of a record set as Croissant's fields."""

from collections.abc import Sequence
from typing import Any

from talkhouse.packages.croissant.ids import Ids
from talkhouse.packages.croissant.types import DataType


def column_field(ids: Ids, path: Sequence[str], files: str, data_type: DataType, description: str) -> dict[str, Any]:
    """Describe a column: where its values are read, of what type they are, and what they mean.

    ``path``: the id of the record set and the name of the column, of which its own id is made.
    """
    source = {"fileSet": {"@id": files}, "extract": {"column": path[-1]}}
    field = _field(ids, path, source, "$", data_type)
    return field if not description else {**field, "description": description}


def split_field(node_id: str, files: str, pattern: str, splits: str) -> dict[str, Any]:
    """Describe the split that a row's file is of: the only field by which mlcroissant filters.

    No other field of the record set may refer to one elsewhere, or no filter works ("did not set output").
    """
    return {
        "@type": "cr:Field",
        "@id": node_id,
        "name": "file_split",
        "description": "The split, as the name of the row's file begins; what programs filter by.",
        "dataType": "sc:Text",
        "source": {
            "fileSet": {"@id": files},
            "extract": {"fileProperty": "filename"},
            "transform": {"regex": pattern},
        },
        "references": {"field": {"@id": f"{splits}/name"}},
    }


def _field(
    ids: Ids, path: Sequence[str], source: dict[str, Any], json_path: str, data_type: DataType
) -> dict[str, Any]:
    """Describe a column with its source, or with its members and the source of each; or such a member."""
    field = {"@type": "cr:Field", "@id": ids.new(*path), "name": path[-1], **data_type.properties()}
    if not data_type.members:
        return {**field, "source": source if json_path == "$" else {**source, "transform": {"jsonPath": json_path}}}
    members = [
        _field(ids, (*path, name), source, f"{json_path}[{_quoted(name)}]", member)
        for name, member in data_type.members
    ]
    return {**field, "subField": members}


def _quoted(name: str) -> str:
    return f'"{name}"' if "'" in name else f"'{name}'"
