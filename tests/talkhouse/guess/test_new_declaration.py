"""What ``talkhouse new DIR`` writes: a declaration of what the files show, and nothing else."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from talkhouse.guess.new_declaration import new_declaration
from talkhouse.ingest.declared.declaration.read import of_folder
from tests.talkhouse.guess.folders import FOLDERS, write


def declared(folder: Path) -> dict[str, Any]:
    new_declaration(folder)
    return tomllib.loads((folder / "corpus.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_is_declared_as_what_it_is(name: str, tmp_path: Path) -> None:
    files, expected = FOLDERS[name]
    folder = write(tmp_path / name, files)
    document = declared(folder)
    assert of_folder(folder).format == expected["format"]
    proposed = {table: document.get(table) for table in expected}
    proposed["files"] = {entry["path"]: entry.get("split") for entry in document.get("files", [])}
    assert {table: proposed[table] for table in expected} == expected
