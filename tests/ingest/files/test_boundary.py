"""Links among the files that a user names: none leads out unasked, also not one that comes while files are read."""

import io
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from talkhouse.ingest.files.disk_files import DiskFile, disk_files
from talkhouse.ingest.files.limits import Boundary
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.ingest.sources import opened
from talkhouse.load.request import from_data, from_paths
from talkhouse.schema.errors import SourceError
from tests.archives import PACKERS
from tests.commands import run

PRIVATE = "not for the warehouse"
DBDC3 = corpora()["dbdc3"]
DEEP = "deep/er/a.json"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder next to a file and a folder that do not belong to it."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "a.json").write_text(PRIVATE)
    (tmp_path / "data" / "toy" / DEEP).parent.mkdir(parents=True)
    (tmp_path / "data" / "toy" / DEEP).write_text("{}")
    (tmp_path / "data" / "other").mkdir()
    (tmp_path / "data" / "other" / "b.json").write_text("[]")
    return tmp_path / "data"


def contents(files: list[DiskFile]) -> dict[str, bytes]:
    with opened(files) as (seen, _):
        return {file.id: file.read() for file in seen}


def read(root: Path, boundary: Boundary | None = None) -> dict[str, bytes]:
    return contents(disk_files(root, "toy", boundary=boundary))


@pytest.mark.parametrize(
    ("link", "target"),
    [
        *(("x.json", "../../private/a.json"), ("x.json", "/etc/passwd"), ("x.json", "deep/../../../private/a.json")),
        *(("x.json", "/proc/self/environ"), ("x.json", "../../private/none"), ("README", "../../private/a.json")),
        *(("x", "../../private"), ("x", "../.."), ("x", "/"), (".", "../private")),
    ],
)
def test_a_link_that_leads_out_is_refused_and_followed_when_asked(data: Path, link: str, target: str) -> None:
    path = data / "toy" / link
    if link == ".":
        shutil.rmtree(data / "toy")
    path.symlink_to(target)
    with pytest.raises(SourceError, match="leads outside the named folder") as caught:
        disk_files(data / "toy", "toy", boundary=Boundary.around(data))
    assert caught.value.where == path
    assert str(path.resolve()) in str(caught.value)
    assert "--follow-links" in str(caught.value)
    if "private" in target and "none" not in target:
        found = disk_files(data / "toy", "toy", boundary=Boundary.around(data, follow_links=True))
        assert PRIVATE.encode() in [file.open().read() for file in found]


@pytest.mark.slow
def test_a_link_that_stays_inside_is_followed(data: Path) -> None:
    (data / "toy" / "x.json").symlink_to(DEEP)
    (data / "toy" / "y.json").symlink_to("x.json")
    (data / "toy" / "z").symlink_to(data / "other")
    (data / "round").symlink_to(data.parent)
    (data / "toy" / "w.json").symlink_to(data / "round" / "data" / "other" / "b.json")
    links = {"toy/x.json": b"{}", "toy/y.json": b"{}", "toy/z/b.json": b"[]", "toy/w.json": b"[]"}
    assert read(data / "toy", Boundary.around(data)) == {f"toy/{DEEP}": b"{}"} | links
    with pytest.raises(SourceError, match="leads out"):
        read(data / "toy")  # here it is the folder of the corpus that was named


@pytest.mark.slow
def test_what_is_named_may_be_a_link(data: Path) -> None:
    (data.parent / "folder").symlink_to(data)
    (data.parent / "file.json").symlink_to(data / "toy" / DEEP)
    assert read(data.parent / "folder" / "toy", Boundary.around(data.parent / "folder")) == {f"toy/{DEEP}": b"{}"}
    assert read(data.parent / "file.json") == {"toy": b"{}"}


def to_secret(path: Path, private: Path) -> None:
    path.unlink()
    path.symlink_to(private / "a.json")


def to_folder_link(path: Path, private: Path) -> None:
    path.parent.rename(path.parent.parent / "before")
    path.parent.symlink_to(private)


def to_pipe(path: Path, _: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def to_other(path: Path, private: Path) -> None:
    (private / "a.json").replace(path)


def pack(folder: Path, ending: str) -> str:
    """Put an archive of the same name where the file was to be found; return its name."""
    name = f"{DEEP}{ending}"
    if ending:
        (folder / name).write_bytes(PACKERS[ending]({"b.json": b"{}"}))
    return name


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["", ".zip", ".tar.gz"])
@pytest.mark.parametrize("replace", [to_secret, to_folder_link, to_pipe, to_other])
def test_what_replaces_a_listed_file_is_not_read(
    data: Path, replace: Callable[[Path, Path], None], ending: str
) -> None:
    path = data / "toy" / pack(data / "toy", ending)
    shutil.copyfile(path, data.parent / "private" / path.name)
    files = disk_files(data / "toy", "toy", boundary=Boundary.around(data))
    replace(path, data.parent / "private")
    with pytest.raises(SourceError, match="changed while it was read"):
        contents(files)
    with pytest.raises(SourceError, match="changed while it was read"):
        files[-1].sha256()


SWAP = """
import os, sys, time
path, private, aside = sys.argv[1:]
while True:
    os.rename(path, aside)
    os.symlink(private, path)
    time.sleep(0.0005)
    os.unlink(path)
    os.rename(aside, path)
    time.sleep(0.0005)
"""


@pytest.mark.slow
@pytest.mark.parametrize("is_folder", [False, True])
def test_a_link_that_comes_and_goes_never_gets_a_file_from_outside_read(data: Path, is_folder: bool) -> None:
    path = data / "toy" / (Path(DEEP).parent if is_folder else DEEP)
    private = data.parent / "private" / ("" if is_folder else "a.json")
    for number in range(50):  # which are listed after it, and leave time for the link to come
        (data / "toy" / f"z{number}.json").write_text("{}")
    (data.parent / "private" / "a.json").write_text("no")  # of the same size
    found = set()
    with subprocess.Popen([sys.executable, "-c", SWAP, path, private, data / "aside"]) as swapper:
        try:
            for _ in range(500):
                with suppress(SourceError):
                    found |= set(read(data / "toy", Boundary.around(data)).values())
        finally:
            swapper.kill()
    assert b"no" not in found


@pytest.mark.slow
@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
@pytest.mark.parametrize("target", ["a.json", "../../private/a.json", "/etc/passwd"])
def test_a_link_in_a_tar_is_refused_since_a_file_would_be_missing(data: Path, kind: bytes, target: str) -> None:
    with tarfile.open(data / "toy" / "x.tar.gz", "w:gz") as archive:
        plain = tarfile.TarInfo("a.json")
        plain.size = 2
        archive.addfile(plain, io.BytesIO(b"{}"))
        link = tarfile.TarInfo("b.json")
        link.type, link.linkname = kind, target
        archive.addfile(link)
    with pytest.raises(SourceError, match=r"has a link[\s\S]*b.json, a link to .*\n.*unpack it"):
        read(data / "toy")


@pytest.mark.slow
def test_a_link_in_a_zip_is_a_file_with_a_path_in_it(data: Path) -> None:
    info = zipfile.ZipInfo("b.json")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(data / "toy" / "x.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    assert read(data / "toy")["toy/x.zip!b.json"] == b"/etc/passwd"


@pytest.mark.slow
def test_no_command_reads_what_a_link_leads_to_unasked(tmp_path: Path) -> None:
    data = tmp_path / "data" / DBDC3.id
    shutil.copytree(sample_of(DBDC3), data)
    options = ("--db", "w.duckdb", "--max-quarantine", "100%")
    assert run("build", "--data", "data", *options, cwd=tmp_path).returncode == 0
    (tmp_path / "secret").write_text(PRIVATE)
    (data / "x.log.json").symlink_to(tmp_path / "secret")
    commands = [
        ("build", "--data", "data", *options),
        ("build", "--data", "data", "--dry-run", *options),
        ("build", "--data", "data", "--rehash", *options),
        ("build", "--data", "data", "--corpus", "dbdc3", "--db", "new.duckdb", "--max-quarantine", "100%"),
        ("ingest", "dbdc3", "data/dbdc3", *options),
        ("verify", "--data", "data", "--db", "w.duckdb"),
        ("verify", "--db", "w.duckdb"),
    ]
    for command in commands:
        done = run(*command, cwd=tmp_path)
        assert (done.returncode, "leads out" in done.stderr) == (1, True), command
        assert PRIVATE not in done.stdout + done.stderr
    assert not (tmp_path / "new.duckdb").exists()
    assert run("replay", "--db", "w.duckdb", cwd=tmp_path).returncode == 0
    assert PRIVATE.encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("w.duckdb*"))
    for command in commands:
        done = run(*command, "--follow-links", cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    assert PRIVATE in run("show", "dbdc3/x.log.json", "--raw", "--db", "w.duckdb", cwd=tmp_path).stdout


@pytest.mark.slow
@pytest.mark.parametrize("path", ["x" * 5_000, "x/" * 3_000])
def test_a_path_that_can_not_be_is_an_error(path: str) -> None:
    with pytest.raises(SourceError):
        from_data(corpora(), Path(path), [])
    with pytest.raises(SourceError):
        from_paths(corpora(), "dbdc3", [Path(path)])
