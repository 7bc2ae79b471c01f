"""The columns of a record set as Croissant's fields."""

from typing import Any

from talkhouse.packages.croissant.types import DataType


def column_field(node_id: str, files: str, column: str, data_type: DataType, description: str | None) -> dict[str, Any]:
    """Describe a column: where its values are read, of what type they are, and what they mean."""
    return {
        "@type": "cr:Field",
        "@id": node_id,
        "name": column,
        **({"description": description} if description else {}),
        **data_type.properties(),
        **_content(node_id, {"fileSet": {"@id": files}, "extract": {"column": column}}, "$", data_type),
    }


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


def _content(node_id: str, source: dict[str, Any], path: str, data_type: DataType) -> dict[str, Any]:
    """Return the source of a column, or its members with the source of each."""
    if not data_type.members:
        return {"source": source if path == "$" else {**source, "transform": {"jsonPath": path}}}
    members = [
        {
            "@type": "cr:Field",
            "@id": f"{node_id}/{index}",
            "name": name,
            **member.properties(),
            **_content(f"{node_id}/{index}", source, f"{path}['{name}']", member),
        }
        for index, (name, member) in enumerate(data_type.members)
    ]
    return {"subField": members}
