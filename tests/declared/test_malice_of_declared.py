"""Corpora, declarations and warehouses that mean harm: nothing is run, and each ends with a clear message."""

import gzip
import json
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import polars as pl
import pytest

import talkhouse
from talkhouse.ingest.declared.declaration import LARGEST, read_declaration
from talkhouse.ingest.declared.rows import spool
from talkhouse.schema.errors import RegistryError
from tests.archives import zipped
from tests.commands import run
from tests.data_files import data_of
from tests.declared.invented_corpora import HEAD, Invented, laid_out, problems_of

CHAT = f'{HEAD}format = "chat"\n[[files]]\npath = "**"\n'
TALK = b'{"id": "1", "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]}\n'
ODD = "A\x1b[31m'; drop table main.turns; --\u202e"


class _Runs:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self._path,)


def refused(invented: Invented, folder: Path) -> str:
    """Build a corpus by the command, which must end with a message; return it."""
    laid_out({"a_corpus": invented}, folder / "data")
    done = run("build", "--data", folder / "data", "--db", folder / "w.duckdb", "--max-quarantine", "100%")
    assert done.returncode == 1, done
    assert "Traceback" not in done.stderr
    assert len(done.stderr) < 10_000
    assert not (folder / "w.duckdb").exists()
    return done.stderr


def test_a_stored_declaration_is_as_long_as_one_may_be() -> None:
    with pytest.raises(RegistryError, match="too long"):
        read_declaration("a", "#" * (LARGEST + 1), "the declaration of a")


def test_a_split_of_many_letters_is_cut_in_the_message() -> None:
    text = CHAT + f"split = {json.dumps('x' * 100_000)}\n[dialogue]\nsplit = 'fold'\n"
    with pytest.raises(RegistryError, match="declared twice") as raised:
        read_declaration("a", text, "a/corpus.toml")
    assert len(str(raised.value)) < 1_000


def test_rows_that_are_set_aside_have_no_name_that_a_killed_process_could_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(spool, "_IN_MEMORY", 1)
    with spool.Spool() as rows:
        rows.add(pl.DataFrame({"dialogue.id": ["b", "a"]}))
        rows.add(pl.DataFrame({"dialogue.id": ["b"]}))
        assert list(tmp_path.iterdir()) == []
        assert [row for piece in rows.dialogues() for row in piece["dialogue.id"]] == ["b", "b", "a"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", lambda: b'{"messages": "' + b"x" * 65_000_000, ["a_corpus/a.jsonl#/0", "bytes of one record"]),
        ("a.jsonl.gz", lambda: gzip.compress(b" " * 200_000_000), ["a_corpus/a.jsonl.gz", "ratio"]),
        ("a.zip", lambda: zipped({"b.jsonl.gz": gzip.compress(b" " * 200_000_000)}), ["b.jsonl.gz", "ratio"]),
    ],
)
def test_files_that_grow(name: str, content: Callable[[], bytes], words: list[str], tmp_path: Path) -> None:
    message = refused(Invented(CHAT, {name: content()}, {"usual.jsonl": TALK}), tmp_path)
    assert all(word in message for word in words), message


@pytest.mark.slow
def test_odd_letters_in_every_field_are_only_text(tmp_path: Path) -> None:
    declaration = f"title = {json.dumps(ODD)}\n" + CHAT.partition("\n")[2]
    fields = "".join(f'{name} = "{name}"\n' for name in ("id", "title", "split", "domain"))
    labels = '[[annotations]]\nscheme = "mood"\non = "dialogue"\nlabel = "mood"\n'
    tasks = f'[[tasks]]\nname = "reply"\nkind = "next_turn"\nrole = {json.dumps(ODD)}\n'
    record = dict.fromkeys(("id", "title", "split", "domain", "mood"), ODD * 10_000)
    raw = json.dumps({**record, "messages": [{"role": ODD, "content": ODD, "name": ODD * 10_000}]}).encode()
    invented = Invented(f"{declaration}[dialogue]\n{fields}{labels}{tasks}", {"a.jsonl": raw}, {})
    assert problems_of({"a_corpus": invented}, tmp_path) == []
    with talkhouse.open(tmp_path / "w.duckdb") as con:
        assert con.execute("select response, split from a_corpus.reply").fetchall() == [(ODD, ODD * 10_000)]
    status = run("status", "--db", tmp_path / "w.duckdb")
    assert (status.returncode, "\x1b" in status.stdout) == (0, False)


@pytest.mark.slow
def test_more_shapes_splits_and_roles_than_are_numbered(tmp_path: Path) -> None:
    declaration = CHAT + '[dialogue]\nsplit = "fold"\n'
    record = '{"fold": "fold %d", "key %d": 1, "messages": [{"role": "role %d", "content": "Hi", "own %d": 2}]}\n'
    raw = "".join(record % (number, number, number, number) for number in range(10_050)).encode()
    assert problems_of({"a_corpus": Invented(declaration, {"a.jsonl": raw, "b.jsonl": raw}, {})}, tmp_path) == []


@pytest.mark.slow
def test_pickles_are_not_opened(tmp_path: Path) -> None:
    raw = pickle.dumps(_Runs(tmp_path / "was run"))
    line = {"id": "1", "conversation_id": "1", "text": "Hi", "speaker": "ann", "meta": {"x": "<##bin{0}&&@**>"}}
    files = {"utterances.jsonl": json.dumps(line).encode(), "x-bin.p": raw, "vectors.v.p": raw}
    files |= dict.fromkeys(("speakers.json", "conversations.json", "corpus.json", "index.json"), b"{}")
    chat = Invented(CHAT.replace('"**"', '"*.jsonl"'), {"a.jsonl": TALK, "b.pkl": raw}, {})
    convokit = Invented(f'{HEAD}format = "convokit"\n', files, {})
    assert problems_of({"a_chat": chat, "a_convokit": convokit}, tmp_path) == []
    assert not (tmp_path / "was run").exists()


@pytest.mark.slow
def test_links_that_lead_out(tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    outside.write_bytes(TALK)
    (tmp_path / "data" / "a_corpus").mkdir(parents=True)
    (tmp_path / "data" / "a_corpus" / "b.jsonl").symlink_to(outside)
    assert "leads out" in refused(Invented(CHAT, {"a.jsonl": TALK}, {}), tmp_path)


@pytest.mark.slow
def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "data" / "a_corpus").mkdir(parents=True)
    os.mkfifo(tmp_path / "data" / "a_corpus" / "b.jsonl")
    assert "neither a file nor a folder" in refused(Invented(CHAT, {"a.jsonl": TALK}, {}), tmp_path)


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse that each test changes a copy of."""
    folder = tmp_path_factory.mktemp("unchanged")
    assert problems_of({"a_corpus": Invented(CHAT, {"a.jsonl": TALK}, {})}, folder) == []
    return folder / "w.duckdb"


@pytest.mark.slow
@pytest.mark.parametrize("change", data_of(__file__)["a_warehouse_that_somebody_changed"])
def test_a_warehouse_that_somebody_changed(change: str, unchanged: Path, tmp_path: Path) -> None:
    path = shutil.copyfile(unchanged, tmp_path / "w.duckdb")
    with duckdb.connect(path) as con:
        con.execute(change)
    done = run("restore", "a_corpus", "--output", tmp_path / "back", "--db", path)
    assert (done.returncode, done.stderr[:7]) == (1, "error: "), done
    assert "\x1b" not in done.stderr
    assert len(done.stderr) < 10_000
    assert not (tmp_path / "out.jsonl").exists()
    assert not list((tmp_path / "back").glob("*"))
    assert run("status", "--db", path).returncode == 0
