"""Dumps in .7z archives: the same as in folders, whatever the order of their members; and what is wrong with some."""

import io
from pathlib import Path
from typing import Any

import py7zr
import pytest

from talkhouse.ingest.corpora.mantis.make.dump import PARTS
from talkhouse.ingest.corpora.mantis.make.site import XmlRows
from talkhouse.ingest.corpus import NotMade, WrongInput
from tests.corpora.mantis.dumps import invent
from tests.corpora.mantis.test_make import make

FILTERS = {"bzip2": [{"id": py7zr.FILTER_BZIP2}], "lzma2": [{"id": py7zr.FILTER_LZMA2, "preset": 1}]}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return invent(3, questions=30).write(tmp_path / "folder" / "travel")


def packed(path: Path, dump: Path, names: list[str], **options: Any) -> Path:
    with py7zr.SevenZipFile(path, "w", **options) as archive:
        for name in names:
            archive.write(dump / name, name)
    return path


@pytest.mark.parametrize("filters", [*FILTERS])
def test_an_archive_gives_what_its_folder_gives(tmp_path: Path, dump: Path, filters: str) -> None:
    (dump / "Badges.xml").write_text("<badges></badges>")
    (dump / "PostHistory.xml").write_text("not read at all")
    path = tmp_path / "travel.stackexchange.com.7z"
    packed(path, dump, ["Badges.xml", "Comments.xml", "PostHistory.xml", *PARTS[1:]], filters=FILTERS[filters])
    facts = [make([source], tmp_path / str(n))["sites"]["travel"] for n, source in enumerate((dump, path))]
    for name in ("merged_train.json", "merged_dev.json", "merged_test.json"):
        assert (tmp_path / "0" / name).read_bytes() == (tmp_path / "1" / name).read_bytes()
    checksums = [fact.pop("files") for fact in facts]
    assert facts[0] == facts[1]
    assert list(checksums[1]) == ["travel.stackexchange.com.7z"]
    assert checksums[1]["travel.stackexchange.com.7z"]["bytes"] == path.stat().st_size


def test_members_in_any_order_and_in_folders_are_read(tmp_path: Path, dump: Path) -> None:
    path = tmp_path / "travel.7z"
    with py7zr.SevenZipFile(path, "w") as archive:
        for name in reversed(PARTS):
            archive.write(dump / name, f"some/folder/{name}")
    expected = make([dump], None)["sites"]["travel"]
    assert {**make([path], None)["sites"]["travel"], "files": {}} == {**expected, "files": {}}


def test_members_that_were_packed_one_by_one_are_read_one_after_the_other(tmp_path: Path, dump: Path) -> None:
    path = packed(tmp_path / "travel.7z", dump, [PARTS[0]])
    for name in PARTS[1:]:
        with py7zr.SevenZipFile(path, "a") as archive:
            archive.write(dump / name, name)
    assert make([path], None)["sites"]["travel"]["answers"] == make([dump], None)["sites"]["travel"]["answers"]


@pytest.mark.parametrize("size", [10, 200, -40])
def test_an_archive_that_is_cut_off_stops(tmp_path: Path, dump: Path, size: int) -> None:
    path = packed(tmp_path / "travel.7z", dump, [*PARTS])
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(NotMade, match=r"travel\.7z: the archive is damaged or cut off; nothing was written"):
        make([path], None)


def test_a_changed_byte_stops(tmp_path: Path, dump: Path) -> None:
    path = packed(tmp_path / "travel.7z", dump, [*PARTS])
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(NotMade, match="nothing was written"):
        make([path], None)


def test_an_archive_by_a_method_whose_decoder_fails_stops(tmp_path: Path, dump: Path) -> None:
    path = packed(tmp_path / "travel.7z", dump, [*PARTS], filters=[{"id": py7zr.FILTER_PPMD, "order": 6, "mem": 24}])
    with pytest.raises(NotMade, match="packed by a method that is not read here, 03 04 01"):
        make([path], None)


def test_an_archive_without_a_part_names_it(tmp_path: Path, dump: Path) -> None:
    path = packed(tmp_path / "travel.7z", dump, [*PARTS[:2], PARTS[3]])
    with pytest.raises(NotMade, match=r"travel\.7z: the archive has no Users\.xml"):
        make([path], None)


def test_archives_in_an_archive_are_to_be_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "travel.7z"
    with py7zr.SevenZipFile(path, "w") as archive:
        archive.writef(io.BytesIO(b"x"), "travel-Posts.7z")
    with pytest.raises(WrongInput, match="the archive holds archives"):
        make([path], None)


def named(path: Path, dump: Path, names: dict[str, str], more: dict[str, bytes]) -> Path:
    """Pack the parts under other names, and further files; py7zr itself would change some of the names."""
    members = [(names.get(part, part), (dump / part).read_bytes()) for part in PARTS] + list(more.items())
    with py7zr.SevenZipFile(path, "w") as archive:
        for number, (_, content) in enumerate(members):
            archive.writestr(content, f"{number}")
        for entry, (name, _) in zip(archive.header.files_info.files, members, strict=True):
            entry["filename"] = name
    return path


OUTSIDE = ["../../Posts.xml", "/etc/Posts.xml", "//etc/Posts.xml", "a/../../Posts.xml"]
OUTSIDE += ["..\\Posts.xml", "C:\\Posts.xml"]


@pytest.mark.parametrize("name", [OUTSIDE[0], *(pytest.param(name, marks=pytest.mark.slow) for name in OUTSIDE[1:])])
def test_a_part_whose_name_leads_out_is_refused(
    tmp_path: Path, dump: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(dump.parent)
    before = sorted(tmp_path.rglob("*"))
    path = named(tmp_path / "travel.7z", dump, {"Posts.xml": name}, {})
    with pytest.raises(NotMade, match=r"travel\.7z: a name leads outside\n.*\n.*found: .*Posts\.xml'"):
        make([path], None)
    assert sorted(tmp_path.rglob("*")) == sorted([*before, path])


def test_two_parts_of_one_name_are_refused(tmp_path: Path, dump: Path) -> None:
    for place, name in enumerate(("again/Posts.xml", "Posts.xml")):
        path = tmp_path / f"{place}.7z"
        if name in PARTS:
            named(path, dump, {"Users.xml": "Posts.xml", "Votes.xml": "a/Users.xml"}, {"Votes.xml": b"<votes></votes>"})
        else:
            named(path, dump, {}, {name: b"<posts></posts>"})
        with pytest.raises(NotMade, match=r"\d\.7z: the archive has 2 files that are called Posts\.xml"):
            make([path], None)


@pytest.mark.slow
def test_other_members_of_any_name_are_left_alone(tmp_path: Path, dump: Path) -> None:
    beside = dict.fromkeys(("CON", "aux.xml", "posts.xml", "../x", "/etc/x", "a\\b", "x\n\x1b[31m.xml", "~", " "), b"x")
    path = named(tmp_path / "travel.7z", dump, {part: f"folder/{part}" for part in PARTS}, beside)
    assert make([path], None)["sites"]["travel"]["answers"] == make([dump], None)["sites"]["travel"]["answers"]


def test_a_dump_that_changes_while_it_is_read_stops(
    tmp_path: Path, dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = packed(tmp_path / "travel.7z", dump, [*PARTS])
    for source, changed in ((path, path), (dump, dump / "Posts.xml")):
        feed = XmlRows.feed

        def replaced(rows: XmlRows, piece: bytes, feed: Any = feed, changed: Path = changed) -> None:
            feed(rows, piece)
            other = tmp_path / "other"
            other.write_bytes(changed.read_bytes())
            other.replace(changed)

        monkeypatch.setattr(XmlRows, "feed", replaced)
        with pytest.raises(NotMade, match="the dump changed while it was read; nothing was written"):
            make([source], None)
        monkeypatch.undo()


def test_malformed_xml_in_an_archive_is_named_by_its_place(tmp_path: Path, dump: Path) -> None:
    posts = dump / "Posts.xml"
    posts.write_bytes(posts.read_bytes().replace(b'PostTypeId="4"', b"PostTypeId=4"))
    path = packed(tmp_path / "travel.7z", dump, [*PARTS])
    with pytest.raises(NotMade, match=r"travel\.7z/Posts\.xml, line \d+: the XML is malformed"):
        make([path], None)
