"""The files that say what a package is: LICENSE.md, CITATION.cff, citation.bib and manifest.json."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from talkhouse.packages.content import Package


def write_papers(package: Package, folder: Path) -> None:
    """Write LICENSE.md, CITATION.cff and citation.bib of the corpora of a package into its folder."""
    raise NotImplementedError


def write_manifest(package: Package, folder: Path, files: Iterable[Mapping[str, Any]]) -> None:
    """Write manifest.json: the build, the corpora with their terms, the filters, and each file with its checksum.

    ``files``: an object for each file of data: path, rows, bytes, sha256, and what else is known of it. Nothing is of
    today: two packages of one warehouse are equal to the byte.
    """
    raise NotImplementedError


def provenance(package: Package) -> dict[str, Any]:
    """Return the build and the published files that the rows came from: source file ids, sizes, SHA-256, addresses."""
    raise NotImplementedError
