"""What a dataset card says of each configuration: its splits, columns, labels and releases."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pyarrow import parquet

from talkhouse.packages.content import Classes, Config, DataFile
from talkhouse.packages.huggingface.markdown import counted, plain, table

_RELEASE = "release"


def section(config: Config, folder: Path, files: Sequence[DataFile]) -> Iterator[str]:
    """Yield the lines about a configuration, whose files are in a folder."""
    yield from (f"### {config.name}", "", plain(config.comment), "")
    yield from (f"{counted(config.rows, 'row')} of `{config.selection.full_name}`{_order(config)}.", "")
    yield from _filters(config)
    yield from table(
        ("split", "as published", "standard split", "rows", "files"),
        (
            (split.name, split.published, split.standard, f"{split.rows:,}", sum(file.split == split for file in files))
            for split in config.splits
        ),
    )
    yield from _releases(config, folder, files)
    classes = {each.column: each for each in config.classes}
    yield from table(
        ("column", "type", "meaning"),
        (
            (column["name"], _type(column["type"], classes.get(column["name"])), column["meaning"])
            for column in config.selection.columns
        ),
    )
    for each in config.classes:
        yield from _labels(each)


def _order(config: Config) -> str:
    columns = ", ".join(f"`{column}`" for column in config.selection.order)
    return f", in the order of {columns}" if columns else ""


def _filters(config: Config) -> Iterator[str]:
    filters = config.selection.filters
    wanted = {
        "split": filters.split,
        "release": filters.release,
        "subset": ", ".join(filters.subsets),
        "where": filters.where,
    }
    named = [f"{name}: `{plain(value)}`" for name, value in wanted.items() if value]
    if named:
        yield from (f"Only some of its rows are here; {'; '.join(named)}.", "")


def _type(kind: str, declared: Classes | None) -> str:
    text = kind.lower()
    return text if declared is None else f"{'list of class labels' if declared.is_list else 'class label'} ({text})"


def _releases(config: Config, folder: Path, files: Sequence[DataFile]) -> Iterator[str]:
    """Say how many rows each release has, where there are several."""
    rows = Counter[str | None]()
    for file in files if _RELEASE in config.selection.known else ():
        with parquet.ParquetFile(folder / file.path) as read:  # type: ignore[no-untyped-call]
            for batch in read.iter_batches(columns=[_RELEASE]):
                rows.update({count["values"].as_py(): count["counts"].as_py() for count in batch[0].value_counts()})
    if len(rows) > 1:
        yield f"The same talks may be in several of its {len(rows)} releases: filter by `{_RELEASE}`."
        yield ""
        counts = sorted(rows.items(), key=lambda pair: (pair[0] is None, pair[0]))
        yield from table((_RELEASE, "rows"), ((release, f"{count:,}") for release, count in counts))


def _labels(declared: Classes) -> Iterator[str]:
    scheme = f", of the scheme `{declared.scheme}`" if declared.scheme else ""
    yield from (f"Labels of `{declared.column}`{scheme}:", "")
    labels = enumerate(declared.labels)
    yield from table(("number", "label", "meaning"), ((number, label.label, label.meaning) for number, label in labels))
