"""All that a package says in texts, beside golden files: ``--regen`` writes them again, and the diff is the review."""

import re
from pathlib import Path

import duckdb
import pytest

from talkhouse.export.formats import Tool
from talkhouse.export.selection import Filters
from talkhouse.packages.export import export_package
from talkhouse.settings import version
from talkhouse.warehouse.opened import Warehouse
from tests.samples import RELEASES

GOLDEN = Path(__file__).parent / "golden"

EXAMPLES = Filters(split="eval", release=RELEASES, where="turn_index > 2")
RECORDS = Filters(split="eval", release=RELEASES)
DIALOGUES = Filters(where=f"dialogue_id = (select min(dialogue_id) from main.turns where dialogue_id ^@ '{RELEASES}:')")

CHANGING = {
    r"\b[0-9a-f]{64}\b": "HASH",
    r"\b[0-9a-f]{16}\b": "HASH",
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)?": "TIME",
    re.escape(version()): "VERSION",
    r"((?:num_bytes|dataset_size|download_size|bytes)\"?: )\d+": r"\1BYTES",
    r"\b\d+ B\b": "BYTES",
}
"""What depends on when and by what a warehouse or a file was written."""


def described(folder: Path) -> dict[str, str]:
    """Return the texts of a package by their names, what changes in them under one name."""
    found = {}
    for path in sorted(folder.iterdir()):
        if path.is_file():
            text = path.read_bytes().decode("utf-8")
            for pattern, name in CHANGING.items():
                text = re.sub(pattern, name, text)
            found[path.name] = text
    return found


@pytest.mark.parametrize(
    ("tool", "name", "filters"),
    [
        (Tool.HUGGINGFACE, f"{RELEASES}.breakdown_detection", EXAMPLES),
        (Tool.LABELSTUDIO, RELEASES, DIALOGUES),
        (Tool.ARGILLA, RELEASES, DIALOGUES),
        (Tool.CONVOKIT, RELEASES, RECORDS),
    ],
)
def test_a_package_says_what_it_has(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, tool: Tool, name: str, filters: Filters, regen: bool
) -> None:
    export_package(Warehouse(con), name, tool, tmp_path / "package", filters=filters, is_accepted=True)
    texts, golden = described(tmp_path / "package"), GOLDEN / tool
    for file, text in texts.items() if regen else ():
        golden.mkdir(parents=True, exist_ok=True)
        (golden / file).write_bytes(text.encode())
    assert texts.keys() == {path.name for path in golden.iterdir()}
    for file, text in texts.items():
        assert text == (golden / file).read_bytes().decode()
