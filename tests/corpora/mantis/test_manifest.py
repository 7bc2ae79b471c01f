"""A manifest.json next to the files: that of Talkhouse names their sources; any other is an ordinary file."""

import json
import shutil
from pathlib import Path

import pytest

import talkhouse
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.load.run import build
from tests.lanes import first_quick

KIND = "made by talkhouse make mantis"


@pytest.mark.parametrize(
    ("text", "made_from"),
    first_quick(
        [
            (json.dumps({"kind": KIND, "made_from": "dumps of x", "sites": {"x": {}}}), "dumps of x"),
            (json.dumps({"kind": "other"}), None),
            (json.dumps({"kind": KIND, "made_from": "\ud800", "sites": {}}), None),
            ("[" * 200_000, None),
            ("no JSON", None),
        ]
    ),
    ids=["ours", "other", "half a pair", "deep", "no JSON"],
)
def test_only_ours_says_what_the_files_were_made_from(tmp_path: Path, text: str, made_from: str | None) -> None:
    folder = tmp_path / "data" / "mantis"
    shutil.copytree(sample_of(corpora()["mantis"]), folder)
    (folder / "manifest.json").write_text(text)
    build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data")
    with talkhouse.open(tmp_path / "w.duckdb") as con:
        assert con.execute("select made_from from main.corpora").fetchall() == [(made_from,)]
        unknown = con.execute("select count(*) from meta.findings where rule = 'TH-05'").fetchone()
        assert unknown == (int(made_from is None),)
