"""Large files: bytes that are held and given back, and rows that are kept as columns."""

import io
import sys
import tarfile
import time
import zipfile
from itertools import zip_longest
from pathlib import Path

import polars as pl
import pytest

from talkhouse.ingest import rows, sources
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.loading.batches import Batch, Batches, column_batch_frame
from talkhouse.ingest.sources import opened


class Kept:
    """An insert transaction that keeps what comes."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.finished = 0.0

    def write(self, batch: Batch) -> None:
        """Keep a batch."""
        self.batches.append(batch)

    def finish(self) -> None:
        """Note when that was."""
        self.finished = time.monotonic()

    def close(self) -> None:
        """Forget nothing."""


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["plain", "with a byte order mark"])
@pytest.mark.parametrize("is_packed", [False, True], ids=["file", "archive"])
def test_held_bytes_are_those_of_the_file(bom: bytes, is_packed: bool, tmp_path: Path) -> None:
    content = bom + b'{"a": [1, 2]}' * 9_000
    path = tmp_path / ("x.zip" if is_packed else "x.json")
    if is_packed:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x.json", content)
    else:
        path.write_bytes(content)
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
    content = bom + bytes(number % 251 for number in range(size))
    (tmp_path / "x.tsv").write_bytes(content)
    with opened(disk_files(tmp_path / "x.tsv", "x.tsv")) as ([file], _):
        read = file.read()
        seen = (file.sha256, file.has_bom)
        pieces = list(file.chunks())
    assert b"".join(pieces) == read
    assert (file.sha256, file.has_bom) == seen
    assert all(pieces)


def test_two_files_of_one_archive_are_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {name: b"".join(b"%d of %s\n" % (number, name) for number in range(20_000)) for name in (b"one", b"two")}
    with tarfile.open(tmp_path / "both.tar.gz", "w:gz") as archive:
        for name, text in texts.items():
            member = tarfile.TarInfo(name.decode())
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    monkeypatch.setattr(sources, "_PIECE", 200)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with opened(disk_files(tmp_path, "x")) as (files, _):
            pieces = list(zip_longest(*(file.chunks() for file in files), fillvalue=b""))
    finally:
        sys.setswitchinterval(interval)
    assert [b"".join(column) for column in zip(*pieces, strict=True)] == list(texts.values())


def test_a_column_batch_is_the_rows_that_it_stands_for() -> None:
    blocks = [
        rows.ColumnBatch(
            rows.PersonaUse, {"record_id": "r", "turn_index": 2}, {"position": [0, 1], "persona_id": ["p", "q"]}
        ),
        rows.ColumnBatch(rows.PersonaUse, {"record_id": "s"}, {"position": [0], "persona_id": ["p"]}),
    ]
    found = (
        column_batch_frame("persona_uses", blocks).select("record_id", "turn_index", "position", "persona_id").rows()
    )
    assert found == [("r", 2, 0, "p"), ("r", 2, 1, "q"), ("s", None, 0, "p")]


def test_columns_of_one_table_may_be_series_and_lists() -> None:
    lists = rows.ColumnBatch(rows.Participant, {"role": "user"}, {"dialogue_id": ["a", "b"], "speaker_id": ["c", "d"]})
    series = rows.ColumnBatch(
        rows.Participant,
        {"role": "agent"},
        {"dialogue_id": pl.Series(["e", "é"]), "speaker_id": pl.Series(["f", None], dtype=pl.String)},
    )
    kept = Kept()
    with Batches([kept]) as batches:
        batches.add([], 1, [lists, series, lists, series])
        batches.flush()
        batches.finish()
    found = [row for batch in kept.batches for row in batch.frame.select("dialogue_id", "speaker_id", "role").rows()]
    expected = [("a", "c", "user"), ("b", "d", "user"), ("e", "f", "agent"), ("é", None, "agent")]
    assert sorted(found, key=repr) == sorted(expected * 2, key=repr)


def test_batches_go_to_one_transaction_after_the_other_and_none_is_lost() -> None:
    transactions = [Kept(), Kept()]
    with Batches(transactions) as batches:
        for index in range(51):
            batches.add([rows.Participant(f"{index:02}", "s", None)], 1)
            batches.flush()
        batches.finish()
    found = [
        [key for batch in transaction.batches for key in batch.frame["dialogue_id"]] for transaction in transactions
    ]
    assert found == [[f"{index:02}" for index in range(first, 51, 2)] for first in range(2)]
    # The second one had its turn next: it may be done while the first one writes what came last.
    assert transactions[1].finished < transactions[0].finished


def test_what_goes_wrong_while_inserting_is_raised() -> None:
    class Failing(Kept):
        def write(self, batch: Batch) -> None:
            raise OSError(batch.table)

        def finish(self) -> None:
            raise AssertionError("nothing may last")

    with Batches([Failing()]) as batches:
        batches.add([rows.Participant("d", "s", None)], 1)
        batches.flush()
        with pytest.raises(OSError, match="participants"):
            batches.finish()
