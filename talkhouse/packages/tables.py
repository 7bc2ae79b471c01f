"""Writes the rows of a package as Parquet: a folder for each configuration, files for each split."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from talkhouse.export.expressions import QueryColumn
from talkhouse.export.manifest import described
from talkhouse.export.row_stream import OnRows, QueryRows, row_groups
from talkhouse.export.selection import Selection
from talkhouse.export.writers import arrow_errors, write_shards
from talkhouse.packages.content import Config, ExportPackage, PackageFile, SplitRows, has_splits
from talkhouse.system.files import sha256_of

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
    (folder / DATA / config.name).mkdir(parents=True, exist_ok=True)
    splits, files = {split.published: split for split in config.splits}, dict[str | None, list[PackageFile]]()
    with arrow_errors("Parquet"):
        schema, batches = rows.batches(lambda column: form.value(config, column))
        schema = schema.with_metadata({**schema.metadata, **form.metadata(config, schema)})
        for published, of_split in _cut(config, schema, batches):
            files[published] = _write_split(of_split, schema, folder, config, splits[published], shard_bytes)
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


def _write_split(
    batches: Iterable[Any], schema: Any, folder: Path, config: Config, split: SplitRows, shard_bytes: int
) -> list[PackageFile]:
    """Write the files of a split; they get their names when their number is known."""
    own = DATA / config.name

    def part(index: int) -> Path:
        return folder / own / f"{split.name}-{index:05}.part"

    # The Hub's viewer reads files by pages, which the index locates.
    paged = {"compression": "zstd", "write_page_index": True}
    shards = write_shards(row_groups(batches), schema, lambda index: part(index).open("wb"), shard_bytes, **paged)
    files = []
    for index, shard in enumerate(shards):
        path = own / f"{split.name}-{index:05}-of-{len(shards):05}.parquet"
        part(index).rename(folder / path)
        size, sha256 = (folder / path).stat().st_size, sha256_of(folder / path)
        files.append(PackageFile(config.name, split, path, shard.rows, size, sha256, shard.raw_bytes))
    return files
