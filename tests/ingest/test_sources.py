"""Files in folders and archives: the same to a reader, read in memory, and refused with a clear message."""

import os
import sys
import tarfile
import zipfile
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path

import pytest

from talkhouse.ingest import sources
from talkhouse.ingest.files.disk_files import DiskFile, disk_files
from talkhouse.ingest.files.skipped import skip_reason
from talkhouse.ingest.sources import BOM, SourceFile, opened
from talkhouse.schema.errors import SourceError
from tests.archives import PACKERS, tarred, zipped

MEMBERS = {"logs/b.json": b"{}", "logs/a.json": b"[1]", "README.md": b"notes", "__MACOSX/logs/._a.json": b"\0"}


def seen(root: Path) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the files that a reader sees (id -> bytes), and those skipped (id -> reason)."""
    with opened(disk_files(root, "toy")) as (files, skipped):
        return {file.id: file.read() for file in files}, {item.file.id: item.reason for item in skipped}


def packed(root: Path, ending: str = ".zip") -> str:
    """Lay the members out in a folder or an archive; return what their ids begin with."""
    if ending:
        (root / f"pack{ending}").write_bytes(PACKERS[ending](MEMBERS))
        return f"toy/pack{ending}!"
    for name, content in MEMBERS.items():
        (root / "pack" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "pack" / name).write_bytes(content)
    return "toy/pack/"


@pytest.mark.parametrize("ending", ["", *PACKERS])
def test_a_reader_sees_the_same_files_however_they_are_packed(tmp_path: Path, ending: str) -> None:
    start = packed(tmp_path, ending)
    files, skipped = seen(tmp_path)
    assert list(files.items()) == [(f"{start}logs/a.json", b"[1]"), (f"{start}logs/b.json", b"{}")]
    assert set(skipped) == {f"{start}README.md", f"{start}__MACOSX/logs/._a.json"}


@pytest.mark.parametrize("ending", ["", *PACKERS])
def test_the_path_that_says_what_a_file_is_does_not_show_the_archive(tmp_path: Path, ending: str) -> None:
    packed(tmp_path, ending)
    with opened(disk_files(tmp_path, "toy")) as (files, _):
        assert [str(file.path) for file in files] == ["toy/pack/logs/a.json", "toy/pack/logs/b.json"]


def test_files_come_in_the_order_of_their_ids_across_archives_and_folders(tmp_path: Path) -> None:
    for name in ("b.json", "Z.json", "é.json", "a-b/c.json", "a.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"{}")
    packed(tmp_path)
    ids = list(seen(tmp_path)[0])
    assert ids == sorted(ids)
    assert len(ids) == 7


def test_a_byte_order_mark_is_removed_and_noted(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(BOM + b"{}")
    with opened(disk_files(tmp_path, "toy")) as ([file], _):
        assert file.read() == b"{}"
        assert file.has_bom
        assert file.sha256 == sha256(BOM + b"{}").hexdigest()


@pytest.mark.parametrize("content", [b"", b"\xef", b"\xef\xbb", b"{}"])
def test_short_files_are_read_whole(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with opened(disk_files(tmp_path, "toy")) as ([file], _):
        assert file.read() == content
        assert not file.has_bom
        assert file.sha256 == sha256(content).hexdigest()


@pytest.mark.parametrize(
    ("path", "why"),
    [
        *(("x/__init__.py", "Python's"), ("x/__pycache__/y.pyc", "Python's"), ("toy/corpus.toml", "declaration")),
        *((path, "operating system") for path in ("x/._data.json", "__MACOSX/x", "lost+found/x")),
        *(("DBDC3/00README", "notes"), ("LICENSE.txt", "licence"), ("notes.md", "notes")),
    ],
)
def test_some_names_are_never_data(path: str, why: str) -> None:
    assert why in str(skip_reason(path))


@pytest.mark.parametrize(
    "path",
    ["a.json", "persona_list.txt", "x/readable.json", "3f1c9d0e-uuid", "toy/zip/corpus.toml", "toy/a_corpus.toml"],
)
def test_other_names_are(path: str) -> None:
    assert skip_reason(path) is None


OUTSIDE = ["../outside.json", "/etc/outside.json", "a/../../outside.json", "//etc/outside.json", "C:/outside.json"]
OUTSIDE += ["C:\\outside.json", "\\\\server\\share\\outside.json", "..\\outside.json"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_member_that_points_outside_is_not_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "evil.zip").write_bytes(zipped({name: b"{}", "good.json": b"{}"}))
    files, skipped = seen(tmp_path)
    assert list(files) == ["toy/evil.zip!good.json"]
    assert "outside of the archive" in next(iter(skipped.values()))


def test_backslashes_in_an_archive_of_windows_are_separators(tmp_path: Path) -> None:
    (tmp_path / "w.zip").write_bytes(zipped({"logs\\deep\\a.json": b"{}", "..\\outside.json": b"{}"}))
    with opened(disk_files(tmp_path, "toy")) as ([file], [skipped]):
        assert str(file.path) == "toy/w/logs/deep/a.json"
        assert file.id == "toy/w.zip!logs\\deep\\a.json"
        assert "outside of the archive" in skipped.reason


def test_a_name_that_is_no_utf8_is_an_error(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"b\xff.json")).write_bytes(b"{}")
    with pytest.raises(SourceError, match=r"name is not UTF-8[\s\S]*rename the file") as caught:
        disk_files(tmp_path, "toy")
    assert str(caught.value).encode()


@pytest.mark.slow
def test_a_name_in_a_tar_that_has_a_nul_is_an_error(tmp_path: Path) -> None:
    info = tarfile.TarInfo("plain")
    info.pax_headers = {"path": "a\0b.json"}
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(info)
    with pytest.raises(SourceError, match=r"has a NUL character[\s\S]*a\\x00b"):
        seen(tmp_path)


def test_a_dangling_link_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.json").symlink_to(tmp_path / "gone")
    with pytest.raises(SourceError, match="neither a file nor a folder"):
        disk_files(tmp_path, "toy")


def test_a_damaged_member_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "pack.zip").write_bytes(zipped(MEMBERS, zipfile.ZIP_STORED).replace(b"[1]", b"[2]", 1))
    with pytest.raises(SourceError, match="Bad CRC-32"):
        seen(tmp_path)


@pytest.mark.usefixtures("unprivileged")
def test_a_forbidden_folder_is_an_error(tmp_path: Path) -> None:
    closed = tmp_path / "open" / "closed"
    (closed / "inside").mkdir(parents=True)
    (closed.parent / "a.json").write_bytes(b"{}")
    closed.chmod(0o000)
    for forbidden in (closed.parent, closed / "inside"):
        with pytest.raises(SourceError, match=r"permission denied[\s\S]*chmod"):
            disk_files(forbidden, "toy")
    closed.chmod(0o755)


def test_the_bytes_ahead_are_those_of_the_members(tmp_path: Path) -> None:
    packed(tmp_path)
    (archive,) = disk_files(tmp_path, "toy")
    assert archive.content_size() == sum(map(len, MEMBERS.values()))


def test_two_files_of_one_name_in_an_archive_are_an_error(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "twice.zip", "w") as archive:
        archive.writestr("a.json", b"1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a.json", b"2")
    with pytest.raises(SourceError, match="two files with the same name"):
        seen(tmp_path)


def test_types_are_what_readers_expect(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"{}")
    (disk,) = disk_files(tmp_path, "toy")
    assert isinstance(disk, DiskFile)
    with opened([disk]) as ([file], _):
        assert isinstance(file, SourceFile)
        assert (file.name, file.size) == ("a.json", 2)


def test_a_note_at_the_top_of_an_archive_is_no_data(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(zipped({"README": b"read me", "data.json": b"{}"}))
    with opened(disk_files(tmp_path, "c")) as (files, skipped):
        assert [file.id for file in files] == ["c/x.zip!data.json"]
        assert [file.file.id for file in skipped] == ["c/x.zip!README"]


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["plain", "with a byte order mark"])
@pytest.mark.parametrize("is_packed", [False, True], ids=["file", "archive"])
def test_held_bytes_are_those_of_the_file(bom: bytes, is_packed: bool, tmp_path: Path) -> None:
    content = bom + b'{"a": [1, 2]}' * 9_000
    path = tmp_path / ("x.zip" if is_packed else "x.json")
    path.write_bytes(zipped({"x.json": content}) if is_packed else content)
    with opened(disk_files(path, path.name)) as ([file], _):
        read = file.read()
        seen = (file.sha256, file.has_bom)
        held = file.hold()
        assert (file.sha256, file.has_bom) == seen
    assert bytes(held.view) == read == content.removeprefix(bom)
    held.release(50_000)
    assert bytes(held.view[50_000:]) == read[50_000:]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 4_000_003, pytest.param(9_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["plain", "with a byte order mark"])
def test_pieces_are_the_bytes_of_the_file(size: int, bom: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_bytes(bom + bytes(number % 251 for number in range(size)))
    with opened(disk_files(tmp_path / "x.tsv", "x.tsv")) as ([file], _):
        read = file.read()
        seen = (file.sha256, file.has_bom)
        pieces = list(file.chunks())
    assert b"".join(pieces) == read
    assert (file.sha256, file.has_bom) == seen
    assert all(pieces)


def test_two_files_of_one_archive_are_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {name: b"".join(b"%d of %s\n" % (number, name) for number in range(20_000)) for name in (b"one", b"two")}
    (tmp_path / "both.tar.gz").write_bytes(tarred({name.decode(): text for name, text in texts.items()}))
    monkeypatch.setattr(sources, "_PIECE", 200)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with opened(disk_files(tmp_path, "x")) as (files, _):
            pieces = list(zip_longest(*(file.chunks() for file in files), fillvalue=b""))
    finally:
        sys.setswitchinterval(interval)
    assert [b"".join(column) for column in zip(*pieces, strict=True)] == list(texts.values())
