"""The published files that the rows of a package came from, as PROV names such things."""

from collections.abc import Iterable, Mapping
from typing import Any


def derived_from(files: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Describe the published files, each with its checksum, and its address where the publisher's is known."""
    return [
        {
            "@type": "prov:Entity",
            "name": file["source_file_id"],
            "contentSize": f"{file['bytes']} B",
            "sha256": file["sha256"],
            **({"url": file["url"]} if file["url"] else {}),
        }
        for file in files
    ]
