"""ConvoKit itself opens what is exported: all is there and equal, conversations are whole, a dump changes nothing."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import talkhouse
from tests import outside
from tests.talkhouse.packages.convokit.files import Files, check, export
from tests.talkhouse.packages.convokit.test_convokit import CORPORA, PICTURES, POSTS, changed
from tests.test_docs import ROOT, blocks, commands, run

pytestmark = pytest.mark.packages

NEEDED = ("pandas", "pymongo", "tqdm", "pyyaml", "numpy", "requests", "scipy", "scikit-learn")
"""What ConvoKit imports when it is imported; what else it asks for is 6 GB."""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return outside.python_with(tmp_path_factory.mktemp("convokit") / "env", NEEDED, ["convokit==5.0.0"])


def opened(python: Path, folders: list[Path], home: Path) -> dict[str, Any]:
    """Return folders as ConvoKit reads them, in the encoding of the locale; it writes its settings into the home."""
    program = Path(__file__).with_name("open_corpora.py")
    variables = {"HOME": str(home), "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = [f"{name}={value}" for name, value in variables.items()]
    output = outside.run(["env", *words, str(python), str(program), *map(str, folders)], home)
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return found


def same(files: Files, seen: dict[str, Any]) -> None:
    assert seen["wrong"] == []
    keys = ("id", "conversation_id", "speaker", "text", "reply-to", "timestamp", "meta")
    assert seen["utterances"] == [[utterance[key] for key in keys] for utterance in files.utterances]
    metas = {name: dict(speaker["meta"]) for name, speaker in files.speakers.items()}
    assert seen["speakers"] == {name: [meta.pop("is_ai"), meta] for name, meta in metas.items()}
    assert seen["conversations"] == {name: each["meta"] for name, each in files.conversations.items()}
    assert seen["corpus"] == files.corpus


def dumped(folder: Path) -> Files:
    """Return the files that ConvoKit has written, without the attribute that it derives from ``is_ai``."""
    files = Files.read(folder)
    for speaker in files.speakers.values():
        speaker["meta"].pop("is_ai", None)
    for meta in (*(each["meta"] for each in _all(files)), files.corpus):
        assert meta.pop("ai_meta", {}) in ({}, {"supports": []}, {"alias": {}})
    files.corpus.pop("has_ai", None)
    return files


def _all(files: Files) -> Iterator[dict[str, Any]]:
    yield from (*files.utterances, *files.speakers.values(), *files.conversations.values())


def test_convokit_opens_all_corpora(sample: Path, tmp_path: Path, python: Path) -> None:
    folders = [tmp_path / "packages" / corpus_id for corpus_id in CORPORA]
    folders[0].parent.mkdir()
    for folder in folders:
        export(sample, folder.name, folder)
    seen = opened(python, folders, tmp_path)
    with talkhouse.open(sample) as con:
        for folder in folders:
            files = check(folder, con, folder.name)
            same(files, seen[folder.name])
            again = dumped(tmp_path / "packages" / "dumped" / folder.name)
            assert again.utterances == files.utterances
            assert again.conversations == files.conversations
            for speaker in files.speakers.values():
                del speaker["meta"]["is_ai"]
            assert again.speakers == files.speakers
            assert again.corpus == files.corpus


def test_convokit_opens_odd_rows(sample: Path, filled: Path, tmp_path: Path, python: Path) -> None:
    odd = 'a\r\n\u2028\u0085 é 日本 😀 \ufeff\0\x1a"'
    database = changed(
        sample, tmp_path, "update main.turns set speaker_id = null, said_at = null where turn_index % 3 = 1"
    )
    with duckdb.connect(database) as con:
        con.execute("update main.turns set text = text || ?, native_id = ?", [odd, odd])
    folders = [tmp_path / "packages" / POSTS, tmp_path / "packages" / PICTURES]
    folders[0].parent.mkdir()
    export(database, POSTS, folders[0])
    export(filled, PICTURES, folders[1])
    seen = opened(python, folders, tmp_path)
    with talkhouse.open(database) as con:
        same(check(folders[0], con, POSTS), seen[POSTS])
    assert all(text.endswith(odd) for _, _, _, text, *_ in seen[POSTS]["utterances"])
    same(Files.read(folders[1]), seen[PICTURES])


def test_the_page_on_convokit_is_run(sample: Path, tmp_path: Path, python: Path) -> None:
    page = (ROOT / "docs" / "convokit.md").read_text(encoding="utf-8")
    shutil.copyfile(sample, tmp_path / "talkhouse.duckdb")
    for command in commands(page):
        run(command, tmp_path)
    (program,) = blocks(page, "python")
    printed = outside.run(["env", f"HOME={tmp_path}", str(python), "-c", program], tmp_path)
    assert "Number of Utterances: 107" in printed
    assert any("['" in line for line in printed.splitlines())
    files = Files.read(tmp_path / "one-release")
    assert {len(conversation["meta"]["records"]) for conversation in files.conversations.values()} == {1}


def test_convokit_opens_published_corpora(real_warehouse: Path, tmp_path: Path, python: Path) -> None:
    with talkhouse.open(real_warehouse) as con:
        names = [name for (name,) in con.execute("select corpus_id from main.corpora order by all").fetchall()]
    folders = [tmp_path / "packages" / name for name in names]
    folders[0].parent.mkdir()
    for folder in folders:
        export(real_warehouse, folder.name, folder)
    seen = opened(python, folders, tmp_path)
    with talkhouse.open(real_warehouse) as con:
        for folder in folders:
            same(check(folder, con, folder.name), seen[folder.name])
