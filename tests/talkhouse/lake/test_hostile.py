"""Lakes that somebody has prepared: nothing outside of them is read into them, written or removed; no traceback."""

import json
import os
import shutil
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from talkhouse.ingest.progress import Silent
from talkhouse.lake.write_lake import write_lake
from talkhouse.lake_format import lake_manifest
from talkhouse.lake_format.documents import read_translation, sql
from talkhouse.lake_format.lake_manifest import is_whole, strangers
from talkhouse.schema.errors import LakeDamaged, NotALake, TalkhouseError
from talkhouse.spark.check import check

HOSTILE: list[Any] = [
    *("", ".", "..", "/", "/etc/passwd", "../../outside/secret", "snapshot-1/../../outside/secret"),
    *("./snapshot-1", "snapshot-1/", "snapshot-1//main", "snapshot-1\n", "snapshot-\uff11", "snapshot-01"),
    *("snapshot-1\\..\\secret", "C:\\secret", "a\0b", "\u202egnp", "\ud800", "x" * 100_000, "~/secret", "*.parquet"),
    *("x`; DROP TABLE y; --", "'; DROP TABLE y; --", '"; DROP TABLE y; --', "${env:HOME}", "a;\n", "int) USING csv --"),
    *(None, True, -1, 2**70, 1.5, [], {}, [[[[]]]]),
]
"""What stands in place of each value, one after the other."""

Place = tuple[str | int, ...]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder next to the lake with a secret, and a copy of the lake's files."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    return tmp_path / "outside"


@pytest.fixture
def other(small: Path, tmp_path: Path) -> Path:
    path = Path(shutil.copyfile(small, tmp_path / "other.duckdb"))
    with duckdb.connect(path) as con:
        con.execute("update main.corpora set terms = 'others' where corpus_id = 'delidata'")
    return path


def tree(folder: Path) -> dict[str, object]:
    return {str(path.relative_to(folder)): described(path) for path in sorted(folder.rglob("*"))}


def described(path: Path) -> object:
    if path.is_symlink():
        return path.readlink()
    return path.read_bytes() if path.is_file() else path.stat().st_mode


def stamps(folder: Path) -> dict[str, object]:
    found = ((path, path.lstat()) for path in sorted(folder.rglob("*")))
    return {str(path.relative_to(folder)): (stat.st_ino, stat.st_mtime_ns, stat.st_size) for path, stat in found}


def places(found: Any, above: Place = ()) -> Iterator[Place]:
    children: Any = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    for key, value in children:
        yield (*above, key)
        yield from places(value, (*above, key))


def kinds(found: Any) -> list[Place]:
    """Return the place of one value of each kind: of all columns of all tables, one name."""
    chosen = {}
    for place in places(found):
        names = [key for key in place if isinstance(key, str)]
        chosen[len(place), *names[: names.index("fingerprints") + 1 if "fingerprints" in names else None]] = place
    return [*chosen.values()]


def replaced(found: Any, place: Place, value: Any) -> Any:
    changed = json.loads(json.dumps(found))
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return changed


def ends_well(work: Callable[[], object]) -> str:
    """Do something; return the kind of the error that says what is wrong, or nothing."""
    try:
        work()
    except TalkhouseError as error:
        return type(error).__name__
    return ""


def test_no_path_but_those_that_talkhouse_writes_is_taken(lake: Path) -> None:
    pointer = lake / "manifest.json"
    good = json.loads(pointer.read_bytes())
    for name in ("snapshot", "folder", "path", "schema", "name", "corpus", "revision"):
        (place,) = (place for place in kinds(good) if place[-1] == name and "columns" not in place)
        for value in HOSTILE:
            pointer.write_text(json.dumps(replaced(good, place, value)))
            with pytest.raises(LakeDamaged):
                lake_manifest.read(lake)


def test_no_link_in_a_lake_is_followed(lake: Path, outside: Path) -> None:
    found = lake_manifest.read(lake)
    table = found.table("main.turns")
    assert table is not None
    file = table.files[0]
    assert is_whole(file, lake)
    assert strangers(found, lake) == []
    for name in (file.path, table.folder, "snapshot-1/main", "snapshot-1"):
        shutil.move(lake / name, outside / "moved")
        (lake / name).symlink_to(outside / "moved")
        assert not is_whole(file, lake)
        assert strangers(found, lake) != []
        (lake / name).unlink()
        shutil.move(outside / "moved", lake / name)
    (lake / "manifest.json").rename(outside / "manifest.json")
    (lake / "manifest.json").symlink_to(outside / "manifest.json")
    with pytest.raises(NotALake, match="symbolic link"):
        lake_manifest.read(lake)


@pytest.mark.parametrize("step", [pytest.param(6, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.long)])
def test_no_value_in_a_manifest_leads_out_of_the_lake(lake: Path, outside: Path, other: Path, step: int) -> None:
    pointer, before = lake / "manifest.json", tree(outside)
    original = Path(shutil.copytree(lake, lake.with_name("original")))
    good, ends = json.loads(pointer.read_bytes()), Counter[str]()
    for number, place in enumerate(kinds(good)):
        is_written = place[0] != "tables"  # to write takes a second
        for value in HOSTILE[number % step :: step]:
            pointer.write_text(json.dumps(replaced(good, place, value)))
            here = stamps(lake)
            refused = ends_well(lambda: lake_manifest.read(lake))
            ends[refused] += 1
            if refused:
                assert ends_well(lambda: sql(lake)) == refused
                assert ends_well(lambda: write_lake(lake, [other], Silent(), dry_run=True)) == refused, (place, value)
                assert ends_well(lambda: write_lake(lake, [other], Silent())) == refused, (place, value)
                assert stamps(lake) == here
            elif not is_written:
                is_written = True
                assert write_lake(lake, [other], Silent()).snapshot == "snapshot-2"
                assert all(is_whole(file, lake) for table in lake_manifest.read(lake).tables for file in table.files)
                assert {path.name for path in lake.iterdir()} == {"manifest.json", "snapshot-1", "snapshot-2"}
                shutil.rmtree(lake)
                shutil.copytree(original, lake)
            assert tree(outside) == before, (place, value)
    assert ends["LakeDamaged"] > 500 / step, ends
    assert ends.total() > 900 / step, ends


@pytest.mark.long
def test_no_name_in_the_views_ends_a_statement(lake: Path) -> None:
    path = lake / "snapshot-1" / "translation.json"
    good = json.loads(path.read_bytes())
    number = len(statements_as_spark_cuts_them(sql(lake)))
    texts = [value for value in HOSTILE if isinstance(value, str)]
    for location in texts:
        assert len(statements_as_spark_cuts_them(sql(lake, location=location))) == number
    accepted = 0
    for place in kinds(good):
        for value in texts:
            path.write_text(json.dumps(replaced(good, place, value)))
            if not ends_well(lambda: read_translation(lake, lake_manifest.read(lake))):
                accepted += 1
                assert len(statements_as_spark_cuts_them(sql(lake))) == number, (place, value)
    assert accepted > 20


def statements_as_spark_cuts_them(script: str) -> list[str]:
    """Cut a script as spark-sql does: at semicolons outside of quotes and comments, whatever backticks say."""
    found, quote, begin, place = [], "", 0, 0
    while place < len(script):
        here = script[place]
        if quote == "*/":
            quote = "" if script.startswith("*/", place) else quote
        elif quote:
            place += here == "\\"
            quote = "" if here == quote else quote
        elif script.startswith("/*", place):
            quote = "*/"
        elif here in "'\"":
            quote = here
        elif here == ";":
            found.append(script[begin:place])
            begin = place + 1
        place += 1
    assert not quote
    assert not script[begin:].strip()
    return found


PLACES = (
    "manifest.json", "snapshot-1", "snapshot-1/main", "snapshot-1/main/turns", "snapshot-1/main/turns/corpus=mpchat",
    "snapshot-1/main/turns/corpus=mpchat/part-00000.parquet", "snapshot-1/manifest.json", "snapshot-1/snapshot.json",
    "snapshot-1/translation.json", "snapshot-1/views.sql", ".manifest.json.part", ".manifest.json.part.lock",
    "snapshot-2",
)  # fmt: skip


def as_link(path: Path, outside: Path) -> None:
    """Put a link in its place to what was there, or to a folder, outside."""
    target = outside / "moved"
    shutil.move(path, target) if path.exists() else target.mkdir()
    path.symlink_to(target)


def as_dangling_link(path: Path, outside: Path) -> None:
    as_link(path, outside)
    shutil.rmtree(outside / "moved") if (outside / "moved").is_dir() else (outside / "moved").unlink()


def as_pipe(path: Path, outside: Path) -> None:
    as_link(path, outside)
    path.unlink()
    os.mkfifo(path)


def as_socket(path: Path, outside: Path) -> None:
    as_pipe(path, outside)
    path.unlink()
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(path.parent)  # an address may have a hundred bytes
        server.bind(path.name)
        os.chdir(here)


@pytest.mark.long
@pytest.mark.parametrize("name", PLACES)
def test_links_and_pipes_in_a_lake_lead_nowhere(
    lake: Path, outside: Path, other: Path, tmp_path: Path, name: str
) -> None:
    original = lake.rename(tmp_path / "original")
    for make in (as_link, as_dangling_link, as_pipe, as_socket):
        shutil.rmtree(lake, ignore_errors=True)
        shutil.rmtree(outside / "moved", ignore_errors=True)
        shutil.copytree(original, lake)
        make(lake / name, outside)
        before, there = tree(outside), described(lake / name)
        if make is as_link:
            ends_well(lambda: sql(lake))
            ends_well(lambda: write_lake(lake, [other], Silent(), dry_run=True))
            assert ends_well(lambda: check(lake, "sc://127.0.0.1:1", Silent())) != ""
        done = ends_well(lambda: write_lake(lake, [other], Silent()))
        assert done in ("", "NotALake", "UsageError"), make
        assert tree(outside) == before, make
        if not name.endswith(".lock"):  # which is removed whatever it is, and nothing through it
            assert described(lake / name) == there, make
        if not done:
            found = lake_manifest.read(lake)
            assert all(is_whole(file, lake) for table in found.tables for file in table.files), make
            assert strangers(found, lake) == []


@pytest.mark.slow
def test_a_second_name_of_a_file_outside_is_never_written(lake: Path, outside: Path, other: Path) -> None:
    """A hard link can't be told from the lake's own; so files are never changed in place."""
    inside = lake / "snapshot-1/main/turns/corpus=mpchat/part-00000.parquet"
    inside.unlink()
    os.link(outside / "secret", inside)
    for name in ("translation.json", "views.sql", "manifest.json"):
        (lake / "snapshot-1" / name).unlink()
        os.link(outside / "secret", lake / "snapshot-1" / name)
    for _ in range(2):
        write_lake(lake, [other], Silent())
        assert (outside / "secret").read_text() == "secret"
        other = next(other.parent.glob("talkhouse*.duckdb"), other)
    assert all(is_whole(file, lake) for table in lake_manifest.read(lake).tables for file in table.files)


@pytest.mark.slow
def test_a_corpus_whose_name_is_a_path_is_refused(small: Path, tmp_path: Path, outside: Path) -> None:
    for name in ("../../../outside/c", "/etc", "", ".", "a b", "a\0b", "shared", "A", "x/../../y", "é"):
        path = Path(shutil.copyfile(small, tmp_path / "forged.duckdb"))
        with duckdb.connect(path) as con:
            con.execute("update main.corpora set corpus_id = ? where corpus_id = 'delidata'", [name])
        before = tree(outside)
        with pytest.raises(TalkhouseError, match="changed after Talkhouse made it"):
            write_lake(tmp_path / "lake", [path], Silent())
        assert not (tmp_path / "lake").exists()
        assert tree(outside) == before
