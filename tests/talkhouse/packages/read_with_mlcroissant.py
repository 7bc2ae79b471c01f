"""Read packages by mlcroissant and print as JSON what it found; it runs in an environment that has no Talkhouse.

Arguments: folders with a croissant.json each.
"""

import json
import logging
import math
import sys
from pathlib import Path
from typing import Any

import mlcroissant as mlc  # type: ignore[import-not-found]


class _Kept(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


def plain(value: Any) -> Any:
    """Return a value as JSON has it: texts come as bytes, numbers as NumPy's, times as pandas'."""
    if isinstance(value, dict):
        return {key.rpartition("/")[2]: plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, bytes):
        return value.decode()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and math.isnan(value) else value


def rows(document: Path, record_set: str, split: str | None = None) -> list[Any]:
    """Read a record set, or a split of it. A filter stays in the data set for ever: so each has one of its own."""
    filters = None if split is None else {f"{record_set}/file_split": split}
    return [plain(record) for record in mlc.Dataset(document).records(record_set, filters=filters)]


def read(document: Path) -> dict[str, Any]:
    dataset = mlc.Dataset(document)
    issues = dataset.metadata.ctx.issues
    ids = [record_set.uuid for record_set in dataset.metadata.record_sets]
    read = {name: rows(document, name) for name in ids}
    views = [name for name in ids if f"{name}_splits" in ids]
    by_split = {
        view: {split["name"]: rows(document, view, split["name"]) for split in read[f"{view}_splits"]} for view in views
    }
    return {
        "issues": sorted(map(str, issues.errors)) + sorted(map(str, issues.warnings)),
        "record_sets": read,
        "by_split": by_split,
    }


handler = _Kept()
logging.getLogger().addHandler(handler)
logging.getLogger("absl").addHandler(handler)
packages = {folder: read(Path(folder) / "croissant.json") for folder in sys.argv[1:]}
json.dump({"packages": packages, "logged": handler.texts}, sys.stdout)
