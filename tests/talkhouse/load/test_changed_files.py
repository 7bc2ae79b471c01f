"""Files that are new, changed or gone: read alone, to the rows that a build of all files from nothing has."""

import io
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import talkhouse
from talkhouse.ingest.loading import load_corpus
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.load import base_copy, changed_files
from talkhouse.load.run import build
from talkhouse.schema.errors import TalkhouseError
from talkhouse.warehouse.rows_hash import table_hashes
from tests.commands import run
from tests.conftest import invented_builds
from tests.data_files import data_of
from tests.declared.invented_corpora import HEAD
from tests.talkhouse.load.test_jobs import ALL, CHAT
from tests.talkhouse.load.test_run import fetch

TEATIME = Path(talkhouse.__file__).parent / "new_corpus" / "templates" / "file-per-dialogue" / "teatime"
OF_CORPUS = CHAT.replace("[[files]]", '[speaker]\nscope = "corpus"\n[[files]]')
NAMED = OF_CORPUS.replace("[[files]]", 'name = "shown"\n[[files]]')
TURNS = f"""{HEAD}format = "turns"
[dialogue]
id = "id"
[turn]
speaker = "who"
role = "role"
text = "text"
[speaker]
scope = "corpus"
[[files]]
path = "**/*.csv"
"""

Message = tuple[str, str, str | None, str | None]
"""Who speaks, as what, what, and by which other name."""
Talk = tuple[str, list[Message]]
"""An id and messages."""

PEOPLE = st.sampled_from(["Ann", "Bo", "Cy"])
MESSAGES = st.tuples(
    PEOPLE, st.sampled_from(["user", "user", "bot"]), st.sampled_from(["Hi", "Oh", None]), st.sampled_from([None, "A."])
)
TALKS = st.tuples(st.sampled_from("12345678"), st.lists(MESSAGES, min_size=1, max_size=2))
NAMES = ("a", "b", "c/a", "d", "e.zip", "f")
FILES = st.dictionaries(st.sampled_from(NAMES), st.lists(TALKS, max_size=3), min_size=1)


def lines(talks: list[Talk]) -> bytes:
    found = []
    for native_id, messages in talks:
        listed: list[dict[str, Any]] = []
        for who, role, text, shown in messages:
            content = {} if text is None else {"content": text}
            listed.append({"role": role, "who": who, "shown": shown, **content})
        found.append(json.dumps({"id": native_id, "messages": listed}) + "\n")
    return "".join(found).encode()


def table(talks: list[Talk]) -> bytes:
    rows = [f"{native_id},{who},{role},{text or ''}" for native_id, talk in talks for who, role, text, _ in talk]
    return "\n".join(["id,who,role,text", *rows, ""]).encode()


def write(data: Path, page: str, files: dict[str, list[Talk]]) -> None:
    """Make the files of a folder these; what is as it was is not touched."""
    folder, ending = data / "talks", ".csv" if "csv" in page else ".jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {"corpus.toml": page.encode()}
    for name, talks in files.items():
        content = (table if ending == ".csv" else lines)(talks)
        if name.endswith(".zip"):
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w") as archive:
                archive.writestr(zipfile.ZipInfo(f"a{ending}"), content)
            wanted[name] = packed.getvalue()
        else:
            wanted[f"{name}{ending}"] = content
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        if str(path.relative_to(folder)) not in wanted:
            path.unlink()
    for name, content in wanted.items():
        if not (path := folder / name).exists() or path.read_bytes() != content:
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True)
            path.write_bytes(content)


def hashes(path: Path) -> dict[str, Any]:
    with talkhouse.open(path) as con:
        tables = {f"{found.table} {found.corpus}": (found.rows, found.hash) for found in table_hashes(con, path.stem)}
        counts = "select source_file_id, counts from meta.source_files where corpus_id = 'talks' order by all"
        return tables | {"counts": con.execute(counts).fetchall()}


@pytest.fixture
def _however_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changed_files, "MOST", 1)
    for name in ("MOST_FREE", "MOST_CHANGED"):
        monkeypatch.setattr(base_copy, name, 2)


@pytest.mark.slow
@pytest.mark.usefixtures("_however_much")
@pytest.mark.parametrize("page", [CHAT, OF_CORPUS, NAMED, TURNS], ids=["chat", "of_corpus", "named", "turns"])
@given(states=st.lists(FILES, min_size=2, max_size=4))
@invented_builds(20)
def test_whatever_changes_the_rows_are_those_of_a_build_from_nothing(
    states: list[dict[str, list[Talk]]], page: str
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        for number, files in enumerate(states):
            write(folder / "data", page, {"z": [("0", [("Ann", "user", "Hi", None)])], **files})
            build(folder / "w.duckdb", Silent(), data=folder / "data", limit=ALL)
            build(folder / f"{number}.duckdb", Silent(), data=folder / "data", limit=ALL)
            found, expected = hashes(folder / "w.duckdb"), hashes(folder / f"{number}.duckdb")
            assert {table for table in expected if found.get(table) != expected[table]} == set()
            assert found.keys() == expected.keys()


def talk(native_id: str, *texts: str | None, who: str = "Ann", role: str = "user", shown: str | None = None) -> Talk:
    return native_id, [(who, role, text, shown) for text in texts]


FIRST = {"a": [talk("1", "Hi" * 200), talk("2", "Oh")], "b": [talk("3", "Ah" * 200)], "c/a": [talk("4", "Eh" * 200)]}


@pytest.fixture
def night(tmp_path: Path) -> Callable[..., str]:
    """Build what these files are now; return what became of them."""

    def run(files: dict[str, list[Talk]], page: str = CHAT, **options: Any) -> str:
        write(tmp_path / "data", page, files)
        result = build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data", limit=ALL, **options)
        if not result.read:
            return ""  # of the first night there is nothing to compare
        (tmp_path / "whole.duckdb").unlink(missing_ok=True)
        build(tmp_path / "whole.duckdb", Silent(), data=tmp_path / "data", limit=ALL)
        assert hashes(tmp_path / "w.duckdb") == hashes(tmp_path / "whole.duckdb")
        return result.read.get("talks", "")

    return run


def test_what_is_new_is_read_and_what_is_gone_goes(night: Callable[..., str], tmp_path: Path) -> None:
    assert night(FIRST) == ""
    assert night({**FIRST, "d": [talk("5", None, "Er")]}) == "1 of 5 files read"
    found = "select source_file_id, pointer, detail from meta.findings where rule = 'GF-22'"
    first = ("talks/d.jsonl", "/0/messages/0", "1 of 6 turns have no text at content; here the first")
    assert fetch(tmp_path / "w.duckdb", found) == [first]
    assert night({**FIRST, "d": [talk("3", "Other words")]}) == "2 of 5 files read"
    assert fetch(tmp_path / "w.duckdb", found) == []
    assert night({name: FIRST[name] for name in ("a", "c/a")}) == "0 of 3 files read"


def test_status_says_from_when_each_file_is_and_what_became_of_it(night: Callable[..., str], tmp_path: Path) -> None:
    night(FIRST)
    folder, there = tmp_path / "data" / "talks", ("--db", tmp_path / "w.duckdb")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    changed, gone, *others = [path for path in files if path.suffix == ".jsonl"]
    before = {str(path.relative_to(tmp_path / "data")): path.stat() for path in files}
    os.utime(changed, (86_400, 86_400))
    gone.unlink()
    shutil.copytree(folder, tmp_path / "data" / "more")
    (folder / "new.jsonl").write_bytes(others[0].read_bytes())
    compared = ("status", *there, "--data", tmp_path / "data")
    described = json.loads(run(*compared, "--files", "--json").stdout)
    (talks,) = described["corpora"]
    states = {file["path"]: file["state"] for file in talks["source_files"]}
    meant = {changed: "changed", gone: "gone", folder / "new.jsonl": "new"}
    expected = {str(path.relative_to(tmp_path / "data")): state for path, state in meant.items()}
    assert states == dict.fromkeys(before, "unchanged") | expected
    assert talks["files_since"] == {"unchanged": len(files) - 2, "changed": 1, "new": 1, "gone": 1}
    assert described["not_loaded"]["more"]["files_since"]["new"] == len(files) - 1
    times = [datetime.fromtimestamp(facts.st_mtime, UTC) for facts in before.values()]
    assert talks["files_from"].startswith(f"{min(times):%Y-%m-%d %H:%M:%S}")
    assert talks["files_until"].startswith(f"{max(times):%Y-%m-%d %H:%M:%S}")
    assert talks["read_at"] == described["build"]["finished_at"]
    text = run(*compared).stdout
    assert f"now {len(files) - 2:,} unchanged, 1 changed, 1 new, 1 gone" in text
    assert "not in the warehouse" in text
    assert "new.jsonl" not in text
    assert "new.jsonl  new" in run(*compared, "--files").stdout
    listed = run("status", *there, "--files").stdout
    assert gone.name in listed
    assert " now " not in listed


@pytest.mark.slow
def test_it_is_said_why_a_corpus_is_read_whole(night: Callable[..., str], tmp_path: Path) -> None:
    night(FIRST)
    assert night({**FIRST, "d": [talk(number, "Words") for number in "134"]}) == (
        "read whole: dialogues are in several files, 'talks:1' also in talks/a.jsonl"
    )
    night(FIRST, NAMED)
    assert night({**FIRST, "d": [talk("5", "Er", shown="A.")]}, NAMED) == (
        "read whole: several of its files name 'talks:Ann', and which comes first decides what is known"
    )
    assert night({**FIRST, "d": [talk("5", "Er")]}, CHAT) == "read whole: its declaration or its reader has changed"
    options = ("build", "--data", tmp_path / "data", "--db", tmp_path / "w.duckdb")
    write(tmp_path / "data", CHAT, {**FIRST, "d": [talk("6", "Er")]})
    assert "(1 of 5 files read)" in run(*options, "--dry-run").stdout
    assert "(1 of 5 files read)" in run(*options).stdout


@pytest.mark.slow
def test_to_write_everything_anew_changes_no_row(night: Callable[..., str], tmp_path: Path) -> None:
    night(FIRST)
    night({**FIRST, "d": [talk("5", None, "Er")]})
    before = hashes(tmp_path / "w.duckdb")
    for options in ({}, {"dry_run": True}):
        result = build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data", limit=ALL, compact=True, **options)
        assert result.unchanged_since is None
        assert hashes(tmp_path / "w.duckdb") == before
    assert night({**FIRST, "d": [talk("5", "Er")]}) == "1 of 5 files read"


@pytest.mark.slow
def test_files_that_were_touched_are_noted_where_bytes_are_compared(night: Callable[..., str], tmp_path: Path) -> None:
    night(FIRST)
    os.utime(tmp_path / "data" / "talks" / "a.jsonl", (1, 1))
    assert night({**FIRST, "d": [talk("5", "Er")]}, rehash=True) == "1 of 5 files read"
    write(tmp_path / "data", CHAT, {**FIRST, "d": [talk("5", "Er")]})
    assert build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data").unchanged_since is not None


@pytest.mark.slow
def test_several_processes_read_what_is_new(night: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_corpus, "LEAST", 0)
    monkeypatch.setattr(load_corpus, "TOGETHER", 0)
    night(FIRST)
    assert night({**FIRST, "d": [talk("5", "Er", who="Bo")], "f": [talk("6", None)]}, jobs=2) == "2 of 6 files read"


@pytest.mark.slow
@pytest.mark.parametrize("change", data_of(__file__)["what_a_stranger_has_changed_in_the_file_is_not_in_the_next"])
def test_what_a_stranger_has_changed_in_the_file_is_not_in_the_next(
    change: str, night: Callable[..., str], tmp_path: Path
) -> None:
    night(FIRST)
    path = tmp_path / "w.duckdb"
    path.chmod(0o600)
    with duckdb.connect(path) as con:
        con.execute(change)
    objects = (
        "select view_name, sql from duckdb_views() union all select table_name, sql from duckdb_tables() order by all"
    )
    night({**FIRST, "d": [talk("5", "Er")]})
    assert fetch(path, objects) == fetch(tmp_path / "whole.duckdb", objects)
    assert fetch(path, "select function_name from duckdb_functions() where function_name = 'more'") == []


@pytest.mark.slow
def test_of_several_corpora_one_is_read_whole_and_one_in_part(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for corpus in (corpora()["delidata"], corpora()["dbdc3"]):
        shutil.copytree(sample_of(corpus), data / corpus.id)
    write(data, CHAT, FIRST)
    build(tmp_path / "w.duckdb", Silent(), data=data)
    write(data, CHAT, {**FIRST, "d": [talk("5", "Er")]})
    changed = next(path for path in (data / "delidata").rglob("*") if path.is_file())
    changed.write_bytes(changed.read_bytes() + b"\n")
    result = build(tmp_path / "w.duckdb", Silent(), data=data)
    assert result.read == {"delidata": "read whole: its reader takes all files together", "talks": "1 of 5 files read"}
    build(tmp_path / "whole.duckdb", Silent(), data=data)
    assert hashes(tmp_path / "w.duckdb") == hashes(tmp_path / "whole.duckdb")


def both(tmp_path: Path, **options: Any) -> list[Any]:
    """Build on what is there, and from nothing; return the tables of each, or the error."""
    found: list[Any] = []
    (tmp_path / "whole.duckdb").unlink(missing_ok=True)
    for name in ("w.duckdb", "whole.duckdb"):
        try:
            build(tmp_path / name, Silent(), data=tmp_path / "data", limit=ALL, **options)
            found.append(hashes(tmp_path / name))
        except TalkhouseError as error:
            found.append((type(error), error.what, error.found))
    return found


@pytest.mark.slow
def test_ids_that_end_as_other_words_under_an_id_do(night: Callable[..., str]) -> None:
    files = {**FIRST, "d": [talk("1~deadbeef", "Er")], "f": [talk("1~deadbeef", "Um")]}
    night(files)
    del files["d"]
    assert night(files) == "2 of 5 files read", "the id 1 might have been in the way, too"


@pytest.mark.slow
def test_a_path_that_a_folder_and_an_archive_have_has_the_corpus_read_whole(night: Callable[..., str]) -> None:
    page = CHAT.replace("**/*.jsonl", "**")
    files = {**FIRST, "e.zip": [talk("5", "Er")], "e/a": [talk("6", "Um")]}
    night(files, page)
    del files["e.zip"]
    assert night(files, page) == "read whole: it had 'talks/e/a.jsonl' twice, in a folder and in an archive"
    del files["e/a"]
    files["e.zip"] = [talk("6", "Um")]
    assert night(files, page) == "1 of 5 files read", "an archive that was packed is there once"


@pytest.mark.slow
def test_an_entry_whose_files_are_all_passed_over_is_used(tmp_path: Path) -> None:
    write(tmp_path / "data", CHAT + '[[files]]\npath = "notes/*"\nskip = "notes"\n', FIRST)
    folder = tmp_path / "data" / "talks"
    (folder / "notes").mkdir()
    (folder / "notes" / "n.txt").write_text("n")
    both(tmp_path)
    (folder / "d.jsonl").write_bytes(lines([talk("5", "Er")]))
    appended, whole = both(tmp_path)
    assert appended == whole


@pytest.mark.slow
def test_what_somebody_has_changed_of_another_corpus_is_not_taken_for_a_build(tmp_path: Path) -> None:
    data, path = tmp_path / "data", tmp_path / "w.duckdb"
    write(data, CHAT, FIRST)
    shutil.copytree(data / "talks", data / "more")
    build(path, Silent(), data=data)
    path.chmod(0o600)
    with duckdb.connect(path) as con:
        con.execute("update main.turns set text = 'x' where starts_with(dialogue_id, 'talks:')")
    (data / "more" / "new.jsonl").write_bytes(lines([talk("5", "Er")]))
    build(path, Silent(), data=data)  # keeps the other corpus as it is, and so does not answer for the file
    (data / "talks" / "new.jsonl").write_bytes(lines([talk("5", "Er")]))
    appended, whole = both(tmp_path)
    assert appended == whole


@pytest.mark.slow
@pytest.mark.parametrize("name", ["template", "stage", "fresh", "old"])
def test_a_corpus_may_have_the_name_of_a_file_on_the_way(tmp_path: Path, name: str) -> None:
    page = CHAT.replace("[dialogue]\n", '[dialogue]\nsplit = "fold"\n')
    page += '[[tasks]]\nname = "reply"\nkind = "next_turn"\nrole = "bot"\n'
    folder = tmp_path / "data" / name
    folder.mkdir(parents=True)
    (folder / "corpus.toml").write_text(page)
    for native_id in "abc":
        talks = [(native_id, [("Ann", "user", "Hi", None), ("Bo", "bot", "Ho", None)])]
        (folder / f"{native_id}.jsonl").write_bytes(lines(talks))
    (folder / "d.jsonl").write_bytes((folder / "a.jsonl").read_bytes().replace(b'"a"', b'"d", "fold": "dev"'))
    both(tmp_path)
    (folder / "d.jsonl").unlink()
    appended, whole = both(tmp_path)
    assert appended.keys() == whole.keys()


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["**", "*.jsonl", "e/*.jsonl"])
def test_what_no_file_is_left_for_is_told_as_ever(pattern: str, tmp_path: Path) -> None:
    page = CHAT + f'[[files]]\npath = "{pattern}"\n' if pattern == "e/*.jsonl" else CHAT.replace("**/*.jsonl", pattern)
    files = (
        {"a": [talk("1", "Hi")], "e.zip": [talk("5", "Er")]}
        if pattern != "*.jsonl"
        else {"a": [talk("1", "Hi")], "b": []}
    )
    page = page.replace("**/*.jsonl", "*.jsonl")
    write(tmp_path / "data", page, files)
    build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data", limit=ALL)
    write(tmp_path / "data", page, {**files, "d": [talk("7", "Um")]})
    appended, whole = both(tmp_path)
    assert appended == whole
    del files["a"]
    write(tmp_path / "data", page, {name: talks for name, talks in files.items() if name != "e.zip"})
    appended, whole = both(tmp_path)
    assert appended == whole


@pytest.mark.slow
def test_sql_that_was_edited_is_made_anew(tmp_path: Path) -> None:
    shutil.copytree(TEATIME, tmp_path / "corpora" / "teatime")
    shutil.copytree(tmp_path / "corpora" / "teatime" / "sample", tmp_path / "data" / "teatime")
    write(tmp_path / "data", CHAT, FIRST)
    options = {"corpus_roots": (tmp_path / "corpora",)}
    both(tmp_path, **options)
    examples = next((tmp_path / "corpora" / "teatime" / "queries" / "examples").glob("*.sql"))
    examples.write_text(examples.read_text() + "limit 1\n")
    appended, whole = both(tmp_path, **options)
    assert appended == whole


@pytest.mark.slow
def test_a_file_that_was_changed_after_it_was_published_is_read_with_care(
    night: Callable[..., str], tmp_path: Path
) -> None:
    night(FIRST)
    path = tmp_path / "w.duckdb"
    path.chmod(0o600)
    with duckdb.connect(path) as con:
        con.execute('update main.turns set turn_index = 7; update meta.source_files set counts = \'{"turns": "x"}\'')
    assert night({**FIRST, "d": [talk("5", "Er")]}).startswith("read whole: no build of yours")


@pytest.mark.slow
@pytest.mark.parametrize("change", [lambda path: os.chown(path, 65534, -1), lambda path: path.chmod(0o664)])
def test_a_file_that_another_user_may_have_put_there_is_read_with_care(
    change: Callable[[Path], None], night: Callable[..., str], tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to somebody else")
    night(FIRST)
    change(tmp_path / "w.duckdb")
    assert night({**FIRST, "d": [talk("5", "Er")]}).startswith("read whole: no build of yours")
