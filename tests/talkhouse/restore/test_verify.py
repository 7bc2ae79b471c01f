"""The publisher's files against what comes back of them: equal, or the first difference, in exact words."""

import io
import json
import shutil
import signal
import tarfile
from pathlib import Path

import duckdb
import pytest

import talkhouse
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import build, ingest
from talkhouse.restore.differences import first_difference, json_difference
from talkhouse.restore.verify import Status, Verdict, verify
from tests.commands import run
from tests.talkhouse.restore.test_write_back import stopped

DBDC3 = corpora()["dbdc3"]
DELIDATA = corpora()["delidata"]

SAME = [
    ("1.10", "1.1"),
    ("1e3", "1000.0"),
    ("1e400", "1E+400"),
    ("NaN", " NaN"),
    ("-0", "0"),
    ("9" * 6000, "9" * 6000 + " "),
    ('"\\u00e9\\/"', '"é/"'),
    ('{"a": [1, {"b": null}]}', '{"a":[1,{"b":null}]}'),
    ('["\\ud800"]', '["\\ud800" ]'),
    ('["a", {"b": nul}, 1.0]', '["a",{"b": nul},1.00]'),
]

DIFFERENT = [
    ("1", "1.0", "", "another value", "1", "1.0"),
    ("1", "true", "", "another type", "1", "true"),
    ("0.0", "-0.0", "", "another value", "0.0", "-0.0"),
    ("NaN", "Infinity", "", "another value", "NaN", "Infinity"),
    ("NaN", "null", "", "another type", "NaN", "null"),
    ("1e400", "1e401", "", "another value", "1e400", "1e401"),
    ("1e-400", "0.0", "", "another value", "1e-400", "0.0"),
    ("1" * 6000, "1" * 5999 + "2", "", "another value", "1" * 21, "1" * 20 + "2"),
    ('{"a": {"x/y": [0, "abc"]}}', '{"a": {"x/y": [0, "abd"]}}', "/a/x~1y/1", None, '"abc"', '"abd"'),
    ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', "", "keys in another order", '"a"', '"b"'),
    ('{"a": 1, "b": 2}', '{"a": 1}', "", 'no key "b"', '"b"', "no key"),
    ('{"a": 1}', '{"a": 1, "a": 1}', "", "a key too many", "no key", '"a"'),
    ('{"a": 1, "a": 2}', '{"a": 2, "a": 2}', "/a", "another value", "1", "2"),
    ("[1, 2]", "[1]", "", "another number of items", "2", "1"),
    ("[[1], 2]", "[{}, 2]", "/0", "another type", "a list of 1 items", "an object of 0 keys"),
    ('["a", {"b": nul}]', '["a", {"b": nil}]', "/1/b", "another value", "nul", "nil"),
    ('{"a"', '{"b"', "", "another value", '{"a"', '{"b"'),
]


@pytest.mark.parametrize("whole", [1_000_000, 2], ids=["decoded whole", "split first"])
@pytest.mark.parametrize(("first", "other"), SAME)
def test_equal_values_are_equal(first: str, other: str, whole: int) -> None:
    assert json_difference(first.encode(), other.encode(), whole=whole) is None
    assert json_difference(other.encode(), first.encode(), whole=whole) is None


@pytest.mark.parametrize("whole", [1_000_000, 2], ids=["decoded whole", "split first"])
@pytest.mark.parametrize(("first", "other", "pointer", "what", "expected", "shown"), DIFFERENT)
def test_the_first_difference_of_values(
    first: str, other: str, pointer: str, what: str | None, expected: str, shown: str, whole: int
) -> None:
    found = json_difference(first.encode(), other.encode(), whole=whole)
    assert found is not None
    assert (found.pointer, found.expected, found.found) == (pointer, expected, shown)
    assert found.what == (what or "another text, from character 3 on")
    assert json_difference(other.encode(), first.encode(), whole=whole) is not None


def test_a_difference_deep_in_a_long_text_is_shown() -> None:
    found = json_difference(json.dumps("x" * 5000).encode(), json.dumps("x" * 4000 + "\n").encode())
    assert found is not None
    assert found.what == "another text, from character 4,001 on"
    assert (found.expected, found.found) == (json.dumps("x" * 40), json.dumps("x" * 20 + "\n"))


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("came", "went", "expected"),
    [
        (b"ab\ncd\n", b"ab\ncd\n", None),
        (b"", b"", None),
        (b"ab\ncd\nef", b"ab\ncd\r\nef", (2, 3, r"'cd\n'", r"'cd\r\n'")),
        (b"ab\n", b"ab", (1, 3, r"'ab\n'", "the end of the file")),
        (b"ab", b"ab\n", (1, 3, "the end of the file", r"'ab\n'")),
        (b"a\xff", b"a\xfe", (1, 2, r"'a\xff'", r"'a\xfe'")),
        (b"x" * 100 + b"1", b"x" * 100 + b"2", (1, 101, repr("x" * 30 + "1"), repr("x" * 30 + "2"))),
    ],
)
def test_the_first_difference_of_bytes(
    came: bytes, went: bytes, expected: tuple[int, int, str, str] | None, size: int
) -> None:
    found = first_difference([came[start : start + size] for start in range(0, len(came), size)], io.BytesIO(went))
    assert (found and (found.line, found.byte, found.expected, found.found)) == expected


# Files and the warehouse.


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("built")
    for corpus in (DBDC3, DELIDATA):
        shutil.copytree(sample_of(corpus), top / "data" / corpus.id)
    folder = top / "data" / "dbdc3"
    shutil.make_archive(str(folder / "DBDC3"), "zip", folder, "DBDC3")
    with tarfile.open(folder / "CIC_json_data.tgz", "w:gz") as archive:
        archive.add(folder / "CIC_json_data", "CIC_json_data")
    shutil.rmtree(folder / "DBDC3")
    shutil.rmtree(folder / "CIC_json_data")
    (folder / "YI_json_data" / "broken.log.json").write_text('{"dialogue-id": \n')
    build(top / "w.duckdb", Silent(), data=top / "data", limit=QuarantineLimit("100%"))
    return top


@pytest.fixture
def data(built: Path, tmp_path: Path) -> Path:
    """A data folder of two corpora: one of JSON, partly in archives, one of text; it was built elsewhere."""
    shutil.copytree(built, tmp_path, dirs_exist_ok=True)
    return tmp_path / "data"


def text_file(data: Path) -> Path:
    return next(path for path in sorted((data / "delidata").rglob("*-*")) if path.is_file())


def verdicts(tmp_path: Path, warehouse: str = "w.duckdb") -> dict[str, Verdict]:
    found = {}
    with talkhouse.open(tmp_path / warehouse) as con:
        for corpus in (DBDC3, DELIDATA):
            for verdict in verify(con, corpus, disk_files(tmp_path / "data" / corpus.id, corpus.id)):
                found[verdict.file] = verdict
    return found


def spoiled(tmp_path: Path, *statements: str) -> None:
    shutil.copyfile(tmp_path / "w.duckdb", tmp_path / "spoiled.duckdb")
    with duckdb.connect(tmp_path / "spoiled.duckdb") as con:
        for statement in statements:
            assert con.execute(statement).fetchall()[0][0] > 0


@pytest.mark.usefixtures("data")
def test_every_file_is_equal_or_no_data(tmp_path: Path) -> None:
    found = verdicts(tmp_path)
    assert {verdict.status for verdict in found.values()} == {Status.EQUAL, Status.NOT_DATA}
    assert "dbdc3/CIC_json_data.tgz!CIC_json_data/CIC9001.log.json" in found
    assert found["dbdc3/YI_json_data/broken.log.json"].by == "bytes"
    assert found["dbdc3/DBDC3.zip!DBDC3/LICENSE.txt"].reason == "skipped by name: a licence"
    texts = [file for name, file in found.items() if name.startswith("delidata/") and file.status is Status.EQUAL]
    assert texts
    assert {text.by for text in texts} == {"bytes"}
    assert not list((tmp_path / "data").rglob("*.part"))


def test_what_the_tables_have_otherwise_is_different(data: Path, tmp_path: Path) -> None:
    group = text_file(data)
    spoiled(
        tmp_path,
        f"update main.turns set text = text || '!' where dialogue_id = 'delidata:{group.name}' and turn_index = 2",
        "update main.turns set text = 'x' where dialogue_id = 'dbdc3:YI9001' and turn_index = 1",
    )
    found = {name: file for name, file in verdicts(tmp_path, "spoiled.duckdb").items() if file.status != "not data"}
    different = {name: verdict.difference for name, verdict in found.items() if verdict.status is Status.DIFFERENT}
    text = different.pop(f"delidata/delidata_corpus/{group.name}")
    assert text is not None
    assert (text.pointer, text.line) == (None, 4)
    assert {verdict.pointer for verdict in different.values() if verdict} == {"/turns/1/utterance"}
    assert {verdict.found for verdict in different.values() if verdict} == {'"x"'}
    assert {verdict.status for verdict in found.values()} == {Status.EQUAL, Status.DIFFERENT}


@pytest.mark.slow
def test_files_that_changed_are_not_held_against_the_warehouse(data: Path, tmp_path: Path) -> None:
    group, gone = text_file(data), data / "dbdc3" / "YI_json_data" / "YI9001.log.json"
    group.write_bytes(group.read_bytes() + b"x")
    gone.unlink()
    (data / "dbdc3" / "YI_json_data" / "other.log.json").write_text("{}")
    (data / "dbdc3" / "YI_json_data" / "README").write_text("skipped by name, and new")
    found = verdicts(tmp_path)
    statuses = {name: file.status for name, file in found.items() if file.status not in (Status.EQUAL, Status.NOT_DATA)}
    assert statuses == {
        f"delidata/delidata_corpus/{group.name}": Status.CHANGED,
        "dbdc3/YI_json_data/YI9001.log.json": Status.GONE,
        "dbdc3/YI_json_data/other.log.json": Status.NEW,
    }
    assert found["dbdc3/YI_json_data/README"].status is Status.NOT_DATA


@pytest.mark.slow
def test_a_byte_order_mark_is_part_of_the_file(data: Path, tmp_path: Path) -> None:
    marked = data / "dbdc3" / "YI_json_data" / "YI9001.log.json"
    marked.write_bytes(b"\xef\xbb\xbf" + marked.read_bytes())
    build(tmp_path / "w.duckdb", Silent(), data=data, limit=QuarantineLimit("100%"))
    name = "dbdc3/YI_json_data/YI9001.log.json"
    assert verdicts(tmp_path)[name].status is Status.EQUAL
    spoiled(tmp_path, f"update meta.source_files set note = null where source_file_id = '{name}'")
    found = verdicts(tmp_path, "spoiled.duckdb")[name].difference
    assert found is not None
    assert (found.what, found.expected, found.found) == ("the byte order mark", "a byte order mark", "none")


# The command.


def test_the_samples_are_verified_without_a_word(sample: Path) -> None:
    shown = run("verify", "--db", sample)
    assert shown.returncode == 0, shown.stdout
    *_, last = shown.stdout.splitlines()
    assert " files compared (" in last
    assert "different" not in last


@pytest.mark.slow
def test_the_folder_that_was_built_from_is_the_default(tmp_path: Path) -> None:
    shutil.copytree(sample_of(DELIDATA), tmp_path / "data" / "delidata")
    build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data")
    assert run("verify", "--db", "w.duckdb", cwd=tmp_path).returncode == 0
    (tmp_path / "data").rename(tmp_path / "moved")
    gone = run("verify", "--db", "w.duckdb", cwd=tmp_path)
    assert gone.returncode == 2
    assert "no longer there" in gone.stderr
    assert "--data DIR" in gone.stderr
    assert run("verify", "--db", "w.duckdb", "--data", "moved", cwd=tmp_path).returncode == 0


@pytest.mark.slow
def test_what_was_ingested_is_found_again(data: Path, tmp_path: Path) -> None:
    paths = [data / "dbdc3" / "DBDC3.zip", data / "dbdc3" / "YI_json_data"]
    ingest(tmp_path / "i.duckdb", Silent(), "dbdc3", paths, limit=QuarantineLimit("100%"))
    shown = run("verify", "--db", "i.duckdb", cwd=tmp_path)
    assert shown.returncode == 0, shown.stdout + shown.stderr


@pytest.mark.slow
def test_differences_are_told_in_narrow_lines(data: Path, tmp_path: Path) -> None:
    group = text_file(data)
    spoiled(
        tmp_path,
        f"update main.turns set text = text || '!' where dialogue_id = 'delidata:{group.name}' and turn_index = 2",
    )
    options = ["--db", "spoiled.duckdb", "--data", "data"]
    shown = run("verify", *options, cwd=tmp_path, env={"COLUMNS": "60"})
    assert shown.returncode == 1
    name = f"delidata/delidata_corpus/{group.name}"
    at = shown.stdout.splitlines().index(f"different  {name}")
    location, published, restored = shown.stdout.splitlines()[at + 1 : at + 4]
    assert location.strip().startswith("line 4, byte ")
    assert published.strip().startswith("published: '")
    assert restored.strip().startswith("restored:  '")
    assert "1 different" in shown.stdout.splitlines()[-1]
    found = json.loads(run("verify", *options, "--json", cwd=tmp_path).stdout)
    (different,) = [row for row in found if row["status"] == "different"]
    assert (different["file"], different["difference"]["line"]) == (name, 4)


@pytest.mark.slow
def test_only_one_corpus_is_verified(data: Path, tmp_path: Path) -> None:
    shown = run("verify", "--db", "w.duckdb", "--data", data, "--corpus", "delidata", cwd=tmp_path)
    assert shown.returncode == 0
    assert "dbdc3" not in shown.stdout


@pytest.mark.slow
def test_a_corpus_that_the_warehouse_has_not_is_new(data: Path, tmp_path: Path) -> None:
    ingest(tmp_path / "less.duckdb", Silent(), "delidata", [data / "delidata"])
    shown = run("verify", "--db", "less.duckdb", "--data", data, cwd=tmp_path)
    assert shown.returncode == 1
    assert "new        dbdc3/IRIS_json_data/iris_90001.log.json" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--corpus", "dbcd3"], ["no corpus 'dbcd3'"]),
        (["--data", "nowhere"], ["no such data folder"]),
        (["--data", "."], ["none of these corpora"]),
        (["--db", "none.duckdb"], ["no warehouse here"]),
    ],
)
def test_wrong_use_is_told(sample: Path, tmp_path: Path, arguments: list[str], words: list[str]) -> None:
    shown = run("verify", *(["--db", sample] if "--db" not in arguments else []), *arguments, cwd=tmp_path)
    assert shown.returncode == 2
    assert all(word in shown.stderr for word in words), shown.stderr


@pytest.mark.slow
def test_ctrl_c_leaves_no_temporary_files(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    process = stopped(["verify", "--db", sample], tmp_path)
    assert list((tmp_path / "tmp").iterdir()) != []
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=300)
    assert (process.returncode, stderr) == (130, "interrupted\n")
    assert list((tmp_path / "tmp").iterdir()) == []


def test_what_cannot_be_written_back_stops_no_other_file_or_corpus(tmp_path: Path) -> None:
    page = 'title = "t"\nlicence = "CC0-1.0"\ncitation = "x"\nformat = "turns"\n[turn]\ntext = "said"\n'
    for corpus, names in {"alpha": ("a", "b"), "beta": ("a",), "gamma": ("a",)}.items():
        folder = tmp_path / "data" / corpus
        folder.mkdir(parents=True)
        (folder / "corpus.toml").write_text(page)
        for name in names:
            (folder / f"{name}.csv").write_text(f"said,n\nhello {name},1\n")
    build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data")
    with duckdb.connect(tmp_path / "w.duckdb") as con:
        con.execute("update main.turns set extra = null where dialogue_id like 'alpha:a.csv%'")
        con.execute("update main.corpora set declaration = null where corpus_id = 'beta'")
    done = run("verify", "--json", "--db", tmp_path / "w.duckdb")
    found = {row["file"]: row["status"] for row in json.loads(done.stdout) if row["status"] != "not data"}
    assert found == {"alpha/a.csv": "failed", "alpha/b.csv": "equal", "gamma/a.csv": "equal"}
    assert done.returncode == 1
    assert "beta" in done.stderr
    done = run("restore", "alpha", "--output", tmp_path / "out", "--db", tmp_path / "w.duckdb")
    assert done.returncode == 1
    assert "alpha/a.csv#/1: the writer of 'alpha' raised an exception; this file is not written" in done.stderr
    assert (tmp_path / "out" / "b.csv").read_text() == "said,n\nhello b,1\n"
    assert not (tmp_path / "out" / "a.csv").exists()
