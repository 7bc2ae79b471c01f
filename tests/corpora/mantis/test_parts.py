"""Files in parts: wherever they are cut, their dialogues are those of the file as a whole."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest import sources, split
from ingest.corpora.mantis import parts
from ingest.corpora.mantis.parts import dialogues
from ingest.decode import BadRecord
from ingest.sources import SourceFile, disk_files, opened
from schema.errors import SourceError
from tests.conftest import how_many

Talks = list[tuple[str, bytes]]

TEXTS = st.text() | st.sampled_from(['}, "1": {', '\\"}, "7": {', "NaN", '"a": NaN', "0E0"])
NUMBERS = st.integers() | st.sampled_from([float("nan"), 0.0, 1e5])
KEYS = st.integers(0, 99).map(str) | st.text(max_size=3)
VALUES = st.recursive(
    TEXTS | NUMBERS | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
LAYOUTS: list[dict[str, Any]] = [{}, {"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False, "indent": "\t"}]


def read(path: Path) -> Talks:
    """Give keys and texts of a file's dialogues."""
    with opened(disk_files(path, path.name)) as ([file], _):
        keys, texts = dialogues(file)
        return list(zip(keys, [raw for raws in texts for raw in raws], strict=True))


@settings(max_examples=how_many(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    talks=st.dictionaries(st.integers(0, 999), st.dictionaries(KEYS, VALUES, max_size=4), max_size=12),
    layout=st.sampled_from(LAYOUTS),
    size=st.integers(1, 400),
    piece=st.integers(1, 100),
    mark=st.sampled_from(["", "\ufeff"]),
)
def test_dialogues_are_the_same_wherever_a_file_is_cut(
    talks: dict[int, Any], layout: dict[str, Any], size: int, piece: int, mark: str, tmp_path: Path
) -> None:
    text = json.dumps(talks, **layout).encode(errors="replace")
    path = tmp_path / "x.json"
    path.write_bytes(mark.encode() + text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "_SIZE", size)
        patch.setattr(parts, "_END", 40)
        patch.setattr(sources, "_PIECE", piece)
        found = read(path)
    assert found == [(one.token, one.raw) for one in split._scan(text)]


@pytest.mark.parametrize(
    "text",
    [
        b'{"0": {"a": 1}, "1": {"a": 2}, "0": {"a": 3}, "2": {}}',
        b'{"0": {"a": 1}, "1": {"a" 2}, "2": {"a": 3}, "3": {}}',
        b'{"0": {"x": {"a": 1}, "1": {"b": 2}, "2": {"c": 3}}, "9": {}}',
        b'{"0": {"a": 1}, "x": 2, "1": [], "2": {"c": 3}, "9": {}}',
        b'{"0": {"a": "}, \\"1\\": {"}, "\\u0039": {}}',
        b" \n{ }\t",
        b'{"0": {"u": NaN}, "1": {"u": NaN, "v": 0E0}, "2": {"u": "NaN"}}',
        b'{"0": {"u": NaN}, "1": {"u": [NaN]}, "2": {"u": "NaN"}}',
    ],
)
@pytest.mark.parametrize("size", [1, 16, 1_000])
def test_the_long_way_is_taken_where_a_part_proves_nothing(
    text: bytes, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.json").write_bytes(text)
    monkeypatch.setattr(parts, "_SIZE", size)
    monkeypatch.setattr(sources, "_PIECE", 7)
    assert read(tmp_path / "x.json") == [(one.token, one.raw) for one in split.members(text)]


@pytest.mark.parametrize(
    ("text", "rule"),
    [(b'{"0": {"a": 1}, "1": {"a": [}', "TH-01"), (b"[{}]", "MA-01"), (b"", "TH-01"), (b"{", "TH-01"), (b"3", "MA-01")],
)
@pytest.mark.parametrize("size", [1, 1_000])
def test_what_is_no_object_is_refused(
    text: bytes, rule: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.json").write_bytes(text)
    monkeypatch.setattr(parts, "_SIZE", size)
    with pytest.raises(BadRecord) as caught:
        read(tmp_path / "x.json")
    assert caught.value.rule == rule


@pytest.mark.parametrize("is_longer", [False, True], ids=["another text", "a longer text"])
def test_a_file_that_changes_between_two_readings_is_an_error(is_longer: bool, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'{"0": {"a": 1}}')

    def changed(file: SourceFile) -> Talks:
        keys, texts = dialogues(file)
        path.write_bytes(b'{"0": {"a": 1}, "1": {}}' if is_longer else b'{"0": {"a": 2}}')
        os.utime(path, ns=(0, 1))
        return list(zip(keys, [raw for raws in texts for raw in raws], strict=True))

    with (
        opened(disk_files(path, "x.json")) as ([file], _),
        pytest.raises(SourceError, match="changed while it was read"),
    ):
        changed(file)
