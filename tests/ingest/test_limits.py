"""Limits of what is read: each is refused with what was found and what to type, and can be raised."""

import io
import struct
import tarfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import fields
from gzip import compress
from pathlib import Path

import pytest

from ingest import limits
from ingest.disk_files import disk_files
from ingest.limits import DEFAULT, Limits, parse
from ingest.sources import opened
from schema.errors import SourceError, UsageError
from tests.commands import run

SMALL = Limits(record=100, file=1_000, archive=5_000, ratio=8, members=10, path=50)


def read(path: Path, given: Limits = SMALL) -> dict[str, bytes]:
    """Read all files as a reader does, in each of the three ways."""
    with opened(disk_files(path, path.name, given)) as (files, _):
        for file in files:
            whole = file.read()
            assert bytes(file.hold().view) == b"".join(file.chunks()) == whole
        return {file.id: file.read() for file in files}


def zipped(folder: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    path = folder / "x.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def tarred(folder: Path, members: dict[str, bytes]) -> Path:
    path = folder / "x.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


Pack = Callable[[Path, dict[str, bytes]], Path]
PACKED = pytest.mark.parametrize("pack", [zipped, tarred])


def refused(path: Path, given: Limits = SMALL) -> str:
    with pytest.raises(SourceError) as caught:
        read(path, given)
    return str(caught.value)


@PACKED
@pytest.mark.parametrize(
    ("members", "raised"),
    [
        (dict.fromkeys("abcde", b"\x00" * 990), "ratio="),
        ({"a": bytes(range(256)) * 4, "b": b"x"}, "file="),
        ({f"{number}": bytes(range(256)) * 3 for number in range(8)}, "archive="),
        ({f"{number}": b"" for number in range(11)}, "members=11"),
        ({"a" * 60: b""}, "path=60"),
    ],
)
def test_an_archive_beyond_a_limit_is_refused_with_what_to_type(
    tmp_path: Path, pack: Pack, members: dict[str, bytes], raised: str
) -> None:
    given = SMALL if raised != "archive=" else Limits(archive=5_000)
    message = refused(pack(tmp_path, members), given)
    assert f"--input-limit {raised}" in message
    assert "found: " in message
    path = pack(tmp_path, members)
    assert read(path, DEFAULT) == {f"{path.name}!{name}": content for name, content in sorted(members.items())}


@PACKED
def test_what_an_archive_declares_is_refused_before_it_is_unpacked(
    tmp_path: Path, pack: Pack, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = pack(tmp_path, {"big.json": b" " * 70_000_000})
    unpacked = []
    for kind in (zipfile.ZipExtFile, tarfile.ExFileObject):
        monkeypatch.setattr(kind, "read", lambda *_: unpacked.append(1))
    message = refused(path, DEFAULT)
    assert "70,000,000 bytes" in message
    assert f"in an archive of {path.stat().st_size:,} bytes" in message
    assert "--input-limit ratio=" in message
    assert not unpacked


def declaring(path: Path, size: int, crc: int) -> None:
    """Have a .zip of one member state another size and checksum, in its header and its directory."""
    raw = bytearray(path.read_bytes())
    for signature, at in ((b"PK\1\2", 16), (b"PK\3\4", 14)):
        start = raw.find(signature) + at
        packed = raw[start + 4 : start + 8]
        raw[start : start + 12] = struct.pack("<I", crc) + packed + struct.pack("<I", size)
    path.write_bytes(raw)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("declared", [10, 299, 301, 90_000])
def test_a_directory_that_lies_is_found_out(tmp_path: Path, method: int, declared: int) -> None:
    path = zipped(tmp_path, {"a.json": b"x" * 300}, method)
    declaring(path, declared, zlib.crc32(b"x" * min(300, declared)))
    with opened(disk_files(path, path.name)) as ([file], _):
        for way in (file.read, file.hold, file.hash):
            with pytest.raises(SourceError, match="the archive can't be read"):
                way()


def test_a_member_that_unpacks_to_more_than_it_says_takes_no_memory_for_it(tmp_path: Path) -> None:
    path = zipped(tmp_path, {"a.json": b" " * 50_000_000})
    declaring(path, 10, zlib.crc32(b" " * 10))
    tracemalloc.start()
    try:
        message = refused(path, DEFAULT)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
    assert "the archive can't be read" in message


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_that_is_packed_in_an_unusual_way_is_refused(tmp_path: Path, method: int) -> None:
    assert "another way than deflate" in refused(zipped(tmp_path, {"a": b"x"}, method))


def test_a_long_header_of_a_tar_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 3_000_000
    (tmp_path / "x.tar.gz").write_bytes(compress(info.tobuf() + b"\0" * 3_100_000))
    assert "a header has 3,000," in refused(tmp_path / "x.tar.gz")


def test_a_long_directory_of_a_zip_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path, {f"{'n' * 900}{number}": b"" for number in range(20)})
    assert "its directory has" in refused(path)


@pytest.mark.parametrize("link", [".", "..", "../../one", "two"])
def test_a_folder_that_holds_itself_is_named_once(tmp_path: Path, link: str) -> None:
    (tmp_path / "one" / "two").mkdir(parents=True)
    (tmp_path / "one" / "a.json").write_text("{}")
    inner = tmp_path / "one" / ("two" if link.startswith("..") else "") / "again"
    inner.symlink_to(link)
    if link == "two":
        assert len(disk_files(tmp_path, "toy")) == 1
        return
    with pytest.raises(SourceError, match="a loop") as caught:
        disk_files(tmp_path, "toy")
    assert str(caught.value).startswith(f"{inner}: ")
    assert str(caught.value).count("again") == 1


def test_folders_that_multiply_by_links_are_refused(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number}").mkdir()
        for name in "ab":
            (tmp_path / f"{number}" / name).symlink_to(tmp_path / f"{number + 1}")
    (tmp_path / "30").mkdir()
    with pytest.raises(SourceError, match="--input-limit members="):
        disk_files(tmp_path, "toy", Limits(members=1_000))


def test_a_deep_folder_is_refused_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "/".join("x" * 400)).mkdir(parents=True)
    with pytest.raises(SourceError, match="--input-limit path="):
        disk_files(tmp_path, "toy", Limits(path=700))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], DEFAULT),
        (["record=200MB"], Limits(record=200_000_000)),
        (["record=1.5gb", "ratio=1000"], Limits(record=1_500_000_000, ratio=1000)),
        (["path=5"], Limits(path=5)),
        (["file=77"], Limits(file=77)),
    ],
)
def test_limits_are_raised_by_name(texts: list[str], expected: Limits) -> None:
    assert parse(texts) == expected


@pytest.mark.parametrize("text", ["", "record", "record=", "records=5MB", "ratio=5MB", "file=0", "file=-1", "depth=5"])
def test_what_is_no_limit_is_refused_with_all_that_there_are(text: str) -> None:
    with pytest.raises(UsageError, match=r"record=64MB, file=2GB, archive=64GB, ratio=250") as caught:
        parse([text])
    assert f"'{text}'" in str(caught.value)


@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
def test_the_value_that_a_message_names_is_enough(name: str) -> None:
    amount = getattr(DEFAULT, name) * 3 + 1
    message = str(DEFAULT.exceeded(name, amount, "x"))
    typed = message.rpartition("--input-limit ")[2]
    parse([typed]).check(name, amount, "x")
    assert name in limits.described()


def test_an_archive_is_what_the_name_of_its_source_says(tmp_path: Path) -> None:
    zipped(tmp_path, {"a.json": b"{}"}).rename(tmp_path / "blob")
    (tmp_path / "x.zip").symlink_to("blob")
    with opened(disk_files(tmp_path / "blob", "toy/x.zip")) as ([file], _):
        assert file.read() == b"{}"
    with opened(disk_files(tmp_path / "x.zip", "toy/blob")) as ([file], _):
        assert file.member is None


def test_commands_raise_a_limit(tmp_path: Path) -> None:
    (tmp_path / "data" / "dbdc3").mkdir(parents=True)
    log = '{"dialogue-id": "x", "speaker-id": "y", "turns": [], "more": "' + "x" * 70_000_000 + '"}'
    (tmp_path / "data" / "dbdc3" / "x.log.json").write_text(log)
    command = ["build", "--data", str(tmp_path / "data"), "--db", str(tmp_path / "w.duckdb"), "--dry-run"]
    done = run(*command)
    assert done.returncode == 1
    assert "--input-limit record=71MB" in done.stderr
    done = run(*command, "--input-limit", "record=71MB")
    assert done.returncode == 0, done.stderr
    done = run(*command, "--input-limit", "record=a lot")
    assert done.returncode == 2
    assert "record=64MB" in done.stderr
