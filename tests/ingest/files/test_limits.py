"""Limits of what is read: each is refused with what was found and what to type, and can be raised."""

import gzip
import struct
import sys
import tarfile
import tracemalloc
import zipfile
import zlib
from dataclasses import fields
from pathlib import Path
from typing import Any

import py7zr
import pytest

from talkhouse.ingest.files import limits
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.files.limits import DEFAULT, Limits, parse
from talkhouse.ingest.files.seven_zip import SevenZip
from talkhouse.ingest.outcomes import Rejected
from talkhouse.ingest.registry import DEFAULT_ROOT, corpora
from talkhouse.ingest.sources import opened
from talkhouse.schema.errors import SourceError, UsageError
from tests.archives import PACKERS
from tests.commands import run

SMALL = Limits(record=100, file=1_000, archive=5_000, ratio=8, members=10, path=50)


def read(path: Path, bounds: Limits = SMALL) -> dict[str, bytes]:
    """Read all files as a reader does, in each of the three ways."""
    with opened(disk_files(path, path.name, bounds)) as (files, _):
        for file in files:
            assert file.read() == bytes(file.hold().view) == b"".join(file.chunks())
        return {file.id: file.read() for file in files}


def packed(folder: Path, members: dict[str, bytes], ending: str = ".zip", **how: Any) -> Path:
    path = folder / f"x{ending}"
    path.write_bytes(PACKERS[ending](members, **how))
    return path


PACKED = pytest.mark.parametrize("ending", PACKERS)


def refused(path: Path, bounds: Limits = SMALL) -> str:
    with pytest.raises(SourceError) as caught:
        read(path, bounds)
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
    tmp_path: Path, ending: str, members: dict[str, bytes], raised: str
) -> None:
    message = refused(packed(tmp_path, members, ending), SMALL if raised != "archive=" else Limits(archive=5_000))
    assert f"--input-limit {raised}" in message
    assert "found: " in message
    path = packed(tmp_path, members, ending)
    assert read(path, DEFAULT) == {f"{path.name}!{name}": content for name, content in sorted(members.items())}


@PACKED
def test_what_an_archive_declares_is_refused_before_it_is_unpacked(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = packed(tmp_path, {"big.json": b" " * 70_000_000}, ending)
    unpacked = []
    for kind, way in ((zipfile.ZipExtFile, "read"), (tarfile.ExFileObject, "read"), (SevenZip, "open")):
        monkeypatch.setattr(kind, way, lambda *_: unpacked.append(1))
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
        raw[start : start + 12] = struct.pack("<I", crc) + raw[start + 4 : start + 8] + struct.pack("<I", size)
    path.write_bytes(raw)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("declared", [10, 299, 301, 90_000])
def test_a_directory_that_lies_is_found_out(tmp_path: Path, method: int, declared: int) -> None:
    path = packed(tmp_path, {"a.json": b"x" * 300}, method=method)
    declaring(path, declared, zlib.crc32(b"x" * min(300, declared)))
    with opened(disk_files(path, path.name)) as ([file], _):
        for way in (file.read, file.hold, file.hash):
            with pytest.raises(SourceError, match="the archive can't be read"):
                way()


def test_a_member_that_unpacks_to_more_than_it_says_takes_no_memory_for_it(tmp_path: Path) -> None:
    path = packed(tmp_path, {"a.json": b" " * 50_000_000})
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
    assert "another way than deflate" in refused(packed(tmp_path, {"a": b"x"}, method=method))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"password": "x"}, "it is encrypted"),
        ({"password": "x", "header_encryption": True}, "it is encrypted"),
        ({"filters": [{"id": py7zr.FILTER_ZSTD}]}, "a method that is not read here, 04 F7 11 01"),
        pytest.param(
            *({"filters": [{"id": py7zr.FILTER_LZMA2, "dict_size": 3 << 29}]}, "takes 1,610,612,736 bytes of memory"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_7z_that_is_packed_in_an_unusual_way_is_refused(tmp_path: Path, how: dict[str, Any], words: str) -> None:
    assert words in refused(packed(tmp_path, {"a": b"x"}, ".7z", **how))


def test_a_damaged_7z_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path, {"a.json": b"[1]", "b.json": b"[2]"}, ".7z", filters=[{"id": py7zr.FILTER_COPY}])
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"[2]", b"[3]"))
    assert "b.json has another checksum" in refused(path, DEFAULT)
    path.write_bytes(whole[:-1])
    assert "it is cut off" in refused(path, DEFAULT)
    path.write_bytes(b"Rar!" + whole)
    assert "it is a RAR archive" in refused(path, DEFAULT)


def test_a_link_in_a_7z_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with py7zr.SevenZipFile(tmp_path / "x.7z", "w") as archive:
        archive.write(tmp_path / "link", "link")
    assert "the archive has a link" in refused(tmp_path / "x.7z", DEFAULT)


def test_a_7z_without_what_reads_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path, {"a": b"x"}, ".7z")
    monkeypatch.setitem(sys.modules, "py7zr.exceptions", None)
    assert "pip install 'talkhouse[make]'; or unpack the archive" in refused(path)


def test_a_long_header_of_a_tar_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 3_000_000
    (tmp_path / "x.tar.gz").write_bytes(gzip.compress(info.tobuf() + b"\0" * 3_100_000))
    assert "a header has 3,000," in refused(tmp_path / "x.tar.gz")


def test_a_long_directory_of_a_zip_is_refused(tmp_path: Path) -> None:
    assert "its directory has" in refused(packed(tmp_path, {f"{'n' * 900}{number}": b"" for number in range(20)}))


def test_files_in_another_order_are_unpacked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path, {f"{number:03}": b"%d" % number for number in range(200, 0, -1)}, ".tar.gz")
    begun = []
    seek = gzip.GzipFile.seek

    def counted(stream: gzip.GzipFile, position: int, whence: int = 0) -> int:
        begun.append(not whence and position < stream._buffer.tell())
        return seek(stream, position, whence)

    monkeypatch.setattr(gzip.GzipFile, "seek", counted)
    with opened(disk_files(path, path.name)) as (files, _):
        assert [file.read() for file in files] == [b"%d" % number for number in range(1, 201)]
    assert sum(begun) < 5


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


@pytest.mark.slow
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
    parse([str(DEFAULT.exceeded(name, amount, "x")).rpartition("--input-limit ")[2]]).check(name, amount, "x")
    assert name in limits.described()


@PACKED
def test_an_archive_is_told_by_its_first_bytes(tmp_path: Path, ending: str) -> None:
    for name in ("blob", "x.zip", "x.7z", "x.tgz"):
        path = packed(tmp_path, {"a.json": b"{}"}, ending).rename(tmp_path / name)
        with opened(disk_files(path, name)) as ([file], _):
            assert (file.id, file.read()) == (f"{name}!a.json", b"{}")


@pytest.mark.slow
def test_commands_take_limits(tmp_path: Path) -> None:
    (tmp_path / "data" / "dbdc3").mkdir(parents=True)
    turns = '[{"turn-index": 0, "speaker": "S", "utterance": "hi", "annotations": []}]'
    (tmp_path / "data" / "dbdc3" / "x.log.json").write_text(
        f'{{"dialogue-id": "x", "speaker-id": "y", "turns": {turns}}}'
    )
    command = ["build", "--data", str(tmp_path / "data"), "--db", str(tmp_path / "w.duckdb")]
    done = run(*command, "--input-limit", "record=100")
    assert done.returncode == 1
    assert "--input-limit record=1MB" in done.stderr
    done = run(*command, "--input-limit", "record=100", "--input-limit", "record=1MB")
    assert done.returncode == 0, done.stderr
    done = run(*command, "--input-limit", "record=a lot")
    assert done.returncode == 2
    assert "record=64MB" in done.stderr
    verify = ["verify", "--db", str(tmp_path / "w.duckdb")]
    assert run(*verify).returncode == 0
    done = run(*verify, "--input-limit", "file=10")
    assert "--input-limit file=1MB" in done.stderr
    assert "--input-limit" in run("replay", "--help").stdout


def files_of(*names: str) -> dict[str, bytes]:
    return {name: (DEFAULT_ROOT / name.replace("/", "/sample/", 1)).read_bytes() for name in names}


OPEN = b'1\ta\t"b\n' + b"c\n" * 100
RECORDS = [
    (files_of("dbdc3/CIC_json_data/CIC9001.log.json"), "dbdc3/CIC_json_data/CIC9001.log.json: "),
    (files_of("dbdc3/CIC_json_data/CIC9001.log.context"), "dbdc3/CIC_json_data/CIC9001.log.context: "),
    (files_of("mpchat/mpchat_si.json"), "mpchat/mpchat_si.json#/train/0: "),
    (files_of("mpchat/persona_image_urls.json"), "mpchat/persona_image_urls.json: "),
    (files_of("blended_skill_talk/train.json"), "blended_skill_talk/train.json#/0: "),
    (files_of("blended_skill_talk/human_annotations.json"), "blended_skill_talk/human_annotations.json#/"),
    (files_of("blended_skill_talk/topic_to_persona_list.txt"), "blended_skill_talk/topic_to_persona_list.txt#/1: "),
    (files_of("mantis/merged_train.json"), "mantis/merged_train.json#/"),
    ({"mantis/x.csv": b"conversation_id,comment_pos,annotations,allocation\n1,1," + b"x" * 99}, "mantis/x.csv#/0: "),
    ({"mantis/data_train.tsv": OPEN}, "the quote that opens at line 1, column 5 is not closed"),
    ({"mantis/data_train.tsv": b"1\tx\ty\n" + OPEN}, "the quote that opens at line 2, column 5 is not closed"),
    ({"mantis/data_train.tsv": b"words " * 50}, "300 bytes from line 1 on"),
    ({"mantis/data_train_lookup.txt": b"9" * 200}, "mantis/data_train_lookup.txt#/0: "),
    ({"mantis/data_train_lookup.txt": b"7\n8\n" * 9}, "mantis/data_train_lookup.txt: "),
    ({"mantis/data_train_lookup.txt": b"9\n" * 80, "mantis/data_train.tsv": b"1\tx\ty\n"}, "data_train_lookup.txt: "),
]


@pytest.mark.parametrize(("files", "place"), RECORDS, ids=[next(iter(files)) for files, _ in RECORDS])
def test_a_record_of_any_format_is_refused_if_too_large(files: dict[str, bytes], place: str, tmp_path: Path) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    corpus = corpora()[next(iter(files)).partition("/")[0]]
    with (
        opened(disk_files(tmp_path / corpus.id, corpus.id, Limits(record=60))) as (seen, _),
        pytest.raises(SourceError, match=r"bytes of one record[\s\S]*--input-limit record=") as caught,
    ):
        list(corpus.read(seen))
    assert place in str(caught.value)


def test_a_quote_that_is_not_closed_is_named_in_the_quarantine(tmp_path: Path) -> None:
    (tmp_path / "data_train.tsv").write_bytes("1\tä\tb\n0\tä\tc\n".encode() + '1\tä "\t"b\nc\n'.encode())
    with opened(disk_files(tmp_path, "mantis")) as (seen, _):
        details = [outcome.detail for outcome in corpora()["mantis"].read(seen) if isinstance(outcome, Rejected)]
    assert "the quote that opens at line 3, column 7 is not closed" in details[-1]
    assert "quote" not in details[0]


def test_a_file_that_changes_while_it_is_read_is_no_damaged_archive(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"{}")
    with opened(disk_files(tmp_path, "toy")) as ([file], _):
        for content in (b"{", b"{}\n"):
            (tmp_path / "a.json").write_bytes(content)
            for way in (file.read, file.hold, file.hash):
                with pytest.raises(SourceError, match="the file changed while it was read"):
                    way()
