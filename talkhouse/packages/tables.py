"""Writes the rows of a package as Parquet: a folder for each configuration, files for each split."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import file_digest
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from pyarrow import parquet
from pyarrow.ipc import get_record_batch_size  # type: ignore[attr-defined]

from talkhouse.packages.content import Config, ExportPackage, PackageFile, SplitRows, has_splits
from talkhouse.query.expressions import QueryColumn
from talkhouse.query.manifest import described
from talkhouse.query.row_stream import OnRows, QueryRows, row_groups
from talkhouse.query.selection import Selection
from talkhouse.query.writers import arrow_errors

DATA = Path("data")
"""The folder of the rows in a package."""

SHARD_BYTES = 500_000_000
"""Bytes at which a file ends and another begins, as the Hub advises."""


@dataclass(frozen=True)
class ParquetForm:
    """How a program wants the rows."""

    value: Callable[[Config, QueryColumn], str] = lambda _, column: column.as_packed()
    """The SQL expression of a column's value."""
    metadata: Callable[[Config, Any], dict[str, str]] = lambda *_: {}
    """What the files say of themselves, from their Arrow schema."""


class _Shard(NamedTuple):
    """A file that is written, before the number of all files of its split is known."""

    part: Path
    rows: int
    raw_bytes: int


def write_tables(
    package: ExportPackage, folder: Path, form: ParquetForm, on_rows: OnRows, *, shard_bytes: int = SHARD_BYTES
) -> list[PackageFile]:
    """Write ``data/<config>/<split>-00000-of-00001.parquet`` into a folder; no file is without rows.

    Files are in the order of configurations, splits and rows. Raises QueryFailed, duckdb.Error and OSError.
    """
    return [
        file
        for config in package.configs
        for file in _write_config(package, config, folder, form, on_rows, shard_bytes)
    ]


def _write_config(
    package: ExportPackage, config: Config, folder: Path, form: ParquetForm, on_rows: OnRows, shard_bytes: int
) -> list[PackageFile]:
    selection = _by_splits(config.selection)
    describe = partial(described, selection=selection, sources=package.corpora, parts=package.parts)
    rows = QueryRows(
        package.warehouse.con, package.warehouse.con.sql(selection.sql()), on_rows=on_rows, describe=describe
    )
    own = DATA / config.name
    (folder / own).mkdir(parents=True, exist_ok=True)
    splits, files = {split.published: split for split in config.splits}, dict[str | None, list[PackageFile]]()
    with arrow_errors("Parquet"):
        schema, batches = rows.batches(lambda column: form.value(config, column))
        schema = schema.with_metadata({**schema.metadata, **form.metadata(config, schema)})
        for published, of_split in _cut(config, schema, batches):
            shards = _write_shards(of_split, schema, folder / own / splits[published].name, shard_bytes)
            files[published] = _named(shards, config, splits[published], folder, own)
    return [file for split in config.splits for file in files[split.published]]


def _by_splits(selection: Selection) -> Selection:
    """Sort by split first, so that one query writes one split after the other; within it the order stays."""
    if not has_splits(selection):
        return selection
    return replace(selection, order=("split", *(selection.order or selection.known)))


def _cut(config: Config, schema: Any, batches: Iterable[Any]) -> Iterator[tuple[str | None, Iterator[Any]]]:
    """Return the batches of each split, by its published name; the rows come by splits."""
    if not has_splits(config.selection):
        yield None, iter(batches)
        return
    index = schema.get_field_index("split")
    pieces = (piece for batch in batches for piece in _pieces(batch, batch.column(index)))
    for published, of_split in groupby(pieces, key=lambda piece: piece[0]):
        yield published, (piece for _, piece in of_split)


def _pieces(batch: Any, column: Any) -> Iterator[tuple[str | None, Any]]:
    if column[0].as_py() == column[-1].as_py():  # sorted, so all between are the same
        yield column[0].as_py(), batch
        return
    begin = 0
    for published, values in groupby(column.to_pylist()):
        rows = len(list(values))
        yield published, batch.slice(begin, rows)
        begin += rows


def _write_shards(batches: Iterable[Any], schema: Any, path: Path, shard_bytes: int) -> list[_Shard]:
    shards: list[_Shard] = []
    groups = row_groups(batches)
    group = next(groups, None)
    while group is not None:
        part, rows, raw_bytes = path.with_name(f"{path.name}-{len(shards):05}.part"), 0, 0
        # The Hub's viewer reads files by pages, of which the index tells.
        paged = {"compression": "zstd", "write_page_index": True}
        with part.open("wb") as stream, parquet.ParquetWriter(stream, schema, **paged) as writer:  # type: ignore[no-untyped-call]
            while group is not None and (rows == 0 or stream.tell() < shard_bytes):
                writer.write_batch(group)
                rows, raw_bytes = rows + group.num_rows, raw_bytes + get_record_batch_size(group)
                group = next(groups, None)
        shards.append(_Shard(part, rows, raw_bytes))
    return shards


def _named(shards: Sequence[_Shard], config: Config, split: SplitRows, folder: Path, own: Path) -> list[PackageFile]:
    """Rename the files of a split to their final names, now that their number is known."""
    files = []
    for index, shard in enumerate(shards):
        path = own / f"{split.name}-{index:05}-of-{len(shards):05}.parquet"
        shard.part.rename(folder / path)
        with (folder / path).open("rb") as stream:
            sha256 = file_digest(stream, "sha256").hexdigest()
        size = (folder / path).stat().st_size
        files.append(PackageFile(config.name, split, path, shard.rows, size, sha256, shard.raw_bytes))
    return files
