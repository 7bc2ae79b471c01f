"""What a view is in Croissant: its files, its record set, and those of its splits and labels."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pyarrow import parquet, types  # type: ignore[attr-defined]

from talkhouse.packages.content import Classes, Config, PackageFile, SplitRows


class Described(NamedTuple):
    """The nodes of a view."""

    distribution: list[dict[str, Any]]
    record_sets: list[dict[str, Any]]
    """First its rows, then its splits and the labels of its columns."""


def _split_record_set(node_id: str, of: Iterable[SplitRows]) -> dict[str, Any]:
    """Describe the splits of a view: their names as files have them, and what kind of split each is."""
    return {
        "@type": "cr:RecordSet",
        "@id": node_id,
        "name": node_id,
        "dataType": "cr:Split",
        "key": {"@id": f"{node_id}/name"},
        "field": [
            _enumeration_field(node_id, "name", "sc:Text", "The split's name, as the files have it."),
            _enumeration_field(node_id, "url", "sc:URL", "What kind of split it is; null: none of the usual ones."),
        ],
        "data": _records(node_id, ({"name": split.name, "url": _STANDARD.get(split.standard or "")} for split in of)),
    }


class _Names(NamedTuple):
    """The ids of a view's nodes."""

    rows: str
    files: str
    splits: str


class Ids:
    """The ids of a description; a name that is taken gets ``_`` behind it."""

    def __init__(self) -> None:
        self._taken = set[str]()

    def new(self, *names: str) -> str:
        """Return an id of names, with ``/`` between them."""
        new = "/".join(map(_plain_id, names))
        while new in self._taken:
            new += "_"
        self._taken.add(new)
        return new


def describe(
    config: Config, rows: str, files: Sequence[PackageFile], schema: Any, ids: Ids, *, has_key: bool
) -> Described:
    """Describe a view, whose record set has the id ``rows``, and its files, which have this Arrow schema.

    ``has_key``: the order of its rows is by columns that together name one.
    """
    names = _Names(rows, ids.new(f"{rows}_files"), ids.new(f"{rows}_splits"))
    objects = [_file_object(file, ids.new(*file.path.parts)) for file in files]
    groups = {ids.new(name): classes for name, classes in _label_groups(config).items()}
    return Described(
        [*objects, _file_set(files, names.files)],
        [
            _rows(config, names, schema, _remarks(groups, schema), has_key=has_key),
            _split_record_set(names.splits, config.splits),
            *(_label_record_set(node_id, classes) for node_id, classes in groups.items()),
        ],
    )


def _rows(config: Config, names: _Names, schema: Any, remarks: Mapping[str, str], *, has_key: bool) -> dict[str, Any]:
    own = Ids()
    split_id = own.new(names.rows, "file_split")
    meanings = {column["name"]: column["meaning"] or "" for column in config.selection.columns}
    fields = {
        column.name: _column_field(
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
    pattern = _split_pattern(split.name for split in config.splits)
    return {
        "@type": "cr:RecordSet",
        "@id": names.rows,
        "name": config.name,
        **({"description": config.comment} if config.comment else {}),
        **({"key": key} if key else {}),
        "field": [*fields.values(), _split_field(split_id, names.files, pattern, names.splits)],
    }


def _label_groups(config: Config) -> dict[str, list[Classes]]:
    """Group the columns with classes by these, under names for their record sets."""
    groups: dict[Any, list[Classes]] = {}
    for classes in config.classes:
        if classes.labels:
            groups.setdefault((classes.scheme, classes.labels), []).append(classes)
    names = [f"{config.name}_labels", *(f"{config.name}_labels_{own[0].column}" for own in [*groups.values()][1:])]
    return dict(zip(names, groups.values(), strict=False))


def _remarks(groups: Mapping[str, list[Classes]], schema: Any) -> dict[str, str]:
    """Return for each column with classes where they are, as no field but ``file_split`` may refer to one elsewhere."""
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


_STANDARD = {"train": "cr:TrainingSplit", "validation": "cr:ValidationSplit", "test": "cr:TestSplit"}


def _label_record_set(node_id: str, classes: Sequence[Classes]) -> dict[str, Any]:
    """Describe the labels of columns that have the same ones: number from 0, name and meaning, as they are declared."""
    columns = ", ".join(each.column for each in classes)
    scheme = f", which {classes[0].scheme} declares" if classes[0].scheme else ""
    records = (
        {"number": number, "name": label.label, "meaning": label.meaning}
        for number, label in enumerate(classes[0].labels)
    )
    return {
        "@type": "cr:RecordSet",
        "@id": node_id,
        "name": node_id,
        "description": f"The labels of {columns}{scheme}.",
        "dataType": "sc:Enumeration",
        "key": {"@id": f"{node_id}/number"},
        "field": [
            _enumeration_field(node_id, "number", "cr:Int64", "Its place among them, from 0."),
            _enumeration_field(node_id, "name", "sc:Text", "The label."),
            _enumeration_field(node_id, "meaning", "sc:Text", "What it means; null: no declaration says it."),
        ],
        "data": _records(node_id, records),
    }


def _enumeration_field(node_id: str, name: str, data_type: str, description: str) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{node_id}/{name}",
        "name": name,
        "description": description,
        "dataType": data_type,
    }


def _records(node_id: str, records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{f"{node_id}/{name}": value for name, value in record.items()} for record in records]


@dataclass(frozen=True)
class DataType:
    """The type of a column's values, of the items of its lists, or of the members of its structs."""

    name: str | None
    """None: a struct."""
    shape: tuple[int, ...] = ()
    """Of lists in lists, from the outside; -1: of any length."""
    members: tuple[tuple[str, "DataType"], ...] = ()

    def properties(self) -> dict[str, Any]:
        """Return the properties of a field of it, apart from members."""
        named = {"dataType": self.name} if self.name else {}
        shaped = {"isArray": True, "arrayShape": ",".join(map(str, self.shape))} if self.shape else {}
        return {**named, **shaped}


def _column_field(ids: Ids, path: Sequence[str], files: str, data_type: DataType, description: str) -> dict[str, Any]:
    """Describe a column: where its values are read, of what type they are, and what they mean.

    ``path``: the id of the record set and the name of the column, from which its own id is formed.
    """
    source = {"fileSet": {"@id": files}, "extract": {"column": path[-1]}}
    field = _field(ids, path, source, "$", data_type)
    return field if not description else {**field, "description": description}


def _split_field(node_id: str, files: str, pattern: str, splits: str) -> dict[str, Any]:
    """Describe the split that a row's file is of: the only field by which mlcroissant filters.

    No other field of the record set may refer to one elsewhere, or no filter works ("did not set output").
    """
    return {
        "@type": "cr:Field",
        "@id": node_id,
        "name": "file_split",
        "description": "The split, as the name of the row's file begins; what programs filter by.",
        "dataType": "sc:Text",
        "source": {"fileSet": {"@id": files}, "extract": {"fileProperty": "filename"}, "transform": {"regex": pattern}},
        "references": {"field": {"@id": f"{splits}/name"}},
    }


def _field(
    ids: Ids, path: Sequence[str], source: dict[str, Any], json_path: str, data_type: DataType
) -> dict[str, Any]:
    """Describe a column with its source, or with its members and the source of each; or such a member."""
    field = {"@type": "cr:Field", "@id": ids.new(*path), "name": path[-1], **data_type.properties()}
    if not data_type.members:
        return {**field, "source": source if json_path == "$" else {**source, "transform": {"jsonPath": json_path}}}
    members = [
        _field(ids, (*path, name), source, f"{json_path}[{_quoted(name)}]", member)
        for name, member in data_type.members
    ]
    return {**field, "subField": members}


def _quoted(name: str) -> str:
    return f'"{name}"' if "'" in name else f"'{name}'"


_LENGTHS = (8, 16, 32, 64)


def data_type(arrow: Any) -> DataType:
    """Return the data type of an Arrow type; what Croissant has no name for is ``sc:Text``."""
    if types.is_list(arrow) or types.is_large_list(arrow) or types.is_fixed_size_list(arrow):
        of_items = data_type(arrow.value_type)
        length = arrow.list_size if types.is_fixed_size_list(arrow) else -1
        return DataType(of_items.name, (length, *of_items.shape), of_items.members)
    if types.is_struct(arrow):
        members = (arrow.field(index) for index in range(arrow.num_fields))
        return DataType(None, members=tuple((member.name, data_type(member.type)) for member in members))
    return DataType(_name(arrow.value_type if types.is_dictionary(arrow) else arrow))


def _name(arrow: Any) -> str:
    for length in _LENGTHS:
        if arrow == f"int{length}":
            return f"cr:Int{length}"
        if arrow == f"uint{length}":
            return f"cr:UInt{length}"
    if types.is_floating(arrow):
        return f"cr:Float{arrow.bit_width}"
    return next((name for is_type, name in _NAMES if is_type(arrow)), "sc:Text")


_NAMES = (
    (types.is_boolean, "sc:Boolean"),
    (types.is_decimal, "cr:Float64"),
    (types.is_date, "sc:Date"),
    (types.is_timestamp, "sc:DateTime"),
    (types.is_time, "sc:Time"),
)

_PARQUET = "application/x-parquet"
"""The media type by which mlcroissant chooses how to read a file."""


def _file_object(file: PackageFile, node_id: str) -> dict[str, Any]:
    """Describe a file: it alone has a checksum, and nothing reads rows from it."""
    return {
        "@type": "cr:FileObject",
        "@id": node_id,
        "name": file.path.name,
        "contentUrl": file.path.as_posix(),
        "contentSize": f"{file.bytes} B",
        "encodingFormat": _PARQUET,
        "sha256": file.sha256,
    }


def _file_set(files: Sequence[PackageFile], node_id: str) -> dict[str, Any]:
    """Describe the files of a record set, from which its rows are read.

    Without ``containedIn``: mlcroissant then looks for them next to the description. With the file objects there it
    takes the description for valid and fails on the first row.
    """
    folder = re.sub(r"([*?\[])", r"[\1]", files[0].path.parent.as_posix())
    return {
        "@type": "cr:FileSet",
        "@id": node_id,
        "name": node_id,
        "encodingFormat": _PARQUET,
        "includes": f"{folder}/*.parquet",
    }


def _split_pattern(names: Iterable[str]) -> str:
    r"""Return the pattern of file names that has the split in it.

    mlcroissant makes globs of it when it filters, and of patterns knows ``^``, ``$``, ``\.``, ``.*`` and ``(?:...)?``:
    with anything else it finds no row, and says nothing. Without a filter it applies the pattern to the split that it
    found too, and writes a warning for each row unless that fits: so the rest is optional.
    """
    return rf"^({'|'.join(map(re.escape, names))})(?:-.*\.parquet)?$"


def _plain_id(name: str) -> str:
    """Return a name without blanks, ``:``, ``#``, quotes and the like; dots alone would be a step in a path."""
    plain = re.sub(r"[^\w.-]+", "_", name)
    return plain if plain.strip(".") else "_" * max(1, len(plain))
