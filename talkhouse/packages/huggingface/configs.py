"""What a dataset card says of each configuration: its splits, columns and labels, and what to know of its rows."""

from collections.abc import Iterator, Sequence

from talkhouse.packages.content import Classes, Config, DataFile
from talkhouse.packages.markdown import code, counted, plain, table
from talkhouse.query.composition import notes


def section(config: Config, files: Sequence[DataFile]) -> Iterator[str]:
    """Yield the lines about a configuration, which has these files."""
    yield from (f"### {config.name}", "", plain(config.comment), "")
    yield from (f"{counted(config.rows, 'row')} of {code(config.selection.full_name)}{_order(config)}.", "")
    yield from _filters(config)
    yield from table(
        ("split", "as published", "standard split", "rows", "files"),
        (
            (split.name, split.published, split.standard, f"{split.rows:,}", sum(file.split == split for file in files))
            for split in config.splits
        ),
    )
    yield from _notes(config)
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
    columns = ", ".join(map(code, config.selection.order))
    return f", in the order of {columns}" if columns else ""


def _filters(config: Config) -> Iterator[str]:
    filters = config.selection.filters
    wanted = {
        "split": filters.split,
        "release": filters.release,
        "subset": ", ".join(filters.subsets),
        "where": filters.where,
    }
    named = [f"{name}: {code(value)}" for name, value in wanted.items() if value]
    if named:
        yield from (f"Only some of its rows are here; {'; '.join(named)}.", "")


def _type(kind: str, declared: Classes | None) -> str:
    text = kind.lower()
    return text if declared is None else f"{'list of class labels' if declared.is_list else 'class label'} ({text})"


def _notes(config: Config) -> Iterator[str]:
    """Say of which releases, subsets and languages the rows are, and what a reader may not expect of them."""
    said = [*notes(config.composition), *config.warnings]
    if said:
        yield from (f"- {plain(line)}" for line in said)
        yield ""


def _labels(declared: Classes) -> Iterator[str]:
    scheme = f", of the scheme {code(declared.scheme)}" if declared.scheme else ""
    yield from (f"Labels of {code(declared.column)}{scheme}:", "")
    labels = enumerate(declared.labels)
    yield from table(("number", "label", "meaning"), ((number, label.label, label.meaning) for number, label in labels))
