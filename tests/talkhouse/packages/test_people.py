"""Packages with pseudonyms: what leads to people is in none of their files."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from talkhouse.export.formats import Tool
from talkhouse.packages.chat import ChatOptions
from talkhouse.packages.export import export_package
from talkhouse.schema.errors import UsageError
from talkhouse.warehouse.opened import Warehouse
from tests.talkhouse.leading_to_people import found_in, leading_to_people

ROLES = ("agent", "free", "guided", "main", "other", "participant", "system")


def texts_of(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if path.suffix == ".parquet":
            rows = duckdb.execute(f"select to_json(rows)::varchar from '{path}' as rows").fetchall()
            metadata = duckdb.execute(f"select decode(value) from parquet_kv_metadata('{path}')").fetchall()
            yield path, "\n".join(text for (text,) in rows + metadata)
        else:
            yield path, path.read_text(encoding="utf-8").encode("utf-8", "replace").decode()


@pytest.mark.slow
@pytest.mark.parametrize("tool", [tool for tool in Tool if tool not in (Tool.SUPERSET, Tool.DBT)])
def test_no_id_of_a_person_is_in_any_file_of_a_package(sample: Path, key: Path, tmp_path: Path, tool: Tool) -> None:
    with duckdb.connect(sample, read_only=True) as con:
        warehouse, secret = Warehouse(con), leading_to_people(con)
        for corpus_id in warehouse.corpus_ids:
            folder = tmp_path / corpus_id
            chats = ChatOptions(roles=dict.fromkeys(ROLES, "user")) if tool is Tool.CHAT else None
            export_package(warehouse, corpus_id, tool, folder, key_file=key, chats=chats)
            for path, text in texts_of(folder):
                assert found_in(text, secret) == set(), path
            assert "Texts are not touched" in (folder / "LICENSE.md").read_text()
            assert "Texts are not touched" in (folder / "manifest.json").read_text()
            assert key.read_bytes().hex() not in (folder / "manifest.json").read_text()


@pytest.mark.slow
def test_a_key_is_not_taken_from_the_folder_that_is_written(sample: Path, key: Path) -> None:
    with duckdb.connect(sample, read_only=True) as con, pytest.raises(UsageError):
        export_package(Warehouse(con), "main.turns", Tool.HUGGINGFACE, key.parent, key_file=key)
    assert [path.name for path in key.parent.iterdir()] == ["key"]
