"""What a view is in Croissant: its files, its record set, and those of its splits and labels."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pyarrow import parquet, types  # type: ignore[attr-defined]

from talkhouse.packages.content import Classes, Config, DataFile
from talkhouse.packages.croissant import enumerations
from talkhouse.packages.croissant.distribution import file_object, file_set, split_pattern
from talkhouse.packages.croissant.fields import column_field, split_field
from talkhouse.packages.croissant.ids import Ids
from talkhouse.packages.croissant.types import data_type


class Described(NamedTuple):
    """The nodes of a view."""

    distribution: list[dict[str, Any]]
    record_sets: list[dict[str, Any]]
    """First its rows, then its splits and the labels of its columns."""


class _Names(NamedTuple):
    """The ids of a view's nodes."""

    rows: str
    files: str
    splits: str


def describe(
    config: Config, rows: str, files: Sequence[DataFile], schema: Any, ids: Ids, *, has_key: bool
) -> Described:
    """Describe a view, whose record set has the id ``rows``, and its files, which have this Arrow schema.

    ``has_key``: the order of its rows is by columns that together name one.
    """
    names = _Names(rows, ids.new(f"{rows}_files"), ids.new(f"{rows}_splits"))
    objects = [file_object(file, ids.new(*file.path.parts)) for file in files]
    groups = {ids.new(name): classes for name, classes in _enumerations(config).items()}
    return Described(
        [*objects, file_set(files, names.files)],
        [
            _rows(config, names, schema, _remarks(groups, schema), has_key=has_key),
            enumerations.splits(names.splits, config.splits),
            *(enumerations.labels(node_id, classes) for node_id, classes in groups.items()),
        ],
    )


def _rows(config: Config, names: _Names, schema: Any, remarks: Mapping[str, str], *, has_key: bool) -> dict[str, Any]:
    own = Ids()
    split_id = own.new(names.rows, "file_split")
    meanings = {column["name"]: column["meaning"] or "" for column in config.selection.columns}
    fields = {
        column.name: column_field(
            own,
            (names.rows, column.name),
            names.files,
            data_type(column.type),
            " ".join(filter(None, (meanings.get(column.name), remarks.get(column.name)))),
        )
        for column in schema
    }
    order = config.selection.order if has_key else ()
    key = [{"@id": fields[column]["@id"]} for column in order if column in fields]
    pattern = split_pattern(split.name for split in config.splits)
    return {
        "@type": "cr:RecordSet",
        "@id": names.rows,
        "name": config.name,
        **({"description": config.comment} if config.comment else {}),
        **({"key": key} if key else {}),
        "field": [*fields.values(), split_field(split_id, names.files, pattern, names.splits)],
    }


def _enumerations(config: Config) -> dict[str, list[Classes]]:
    """Group the columns with classes by these, under names for their record sets."""
    groups: dict[Any, list[Classes]] = {}
    for classes in config.classes:
        if classes.labels:
            groups.setdefault((classes.scheme, classes.labels), []).append(classes)
    names = [f"{config.name}_labels", *(f"{config.name}_labels_{own[0].column}" for own in [*groups.values()][1:])]
    return dict(zip(names, groups.values(), strict=False))


def _remarks(groups: Mapping[str, list[Classes]], schema: Any) -> dict[str, str]:
    """Say of each column with classes where they are, as no field but ``file_split`` may refer to one elsewhere."""
    return {
        each.column: f"{'Each is' if each.is_list else 'It is'} one of the "
        f"{'numbers' if _is_number(schema, each.column) else 'names'} in {node_id}."
        for node_id, classes in groups.items()
        for each in classes
        if each.column in schema.names
    }


def _is_number(schema: Any, column: str) -> bool:
    kind = schema.field(column).type
    return bool(types.is_integer(kind.value_type if types.is_list(kind) else kind))


def schema_of(path: Any) -> Any:
    """Return the Arrow schema of a Parquet file."""
    return parquet.read_schema(path)  # type: ignore[no-untyped-call]
