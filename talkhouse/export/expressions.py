"""SQL expressions of a column as the formats want it: as the text that all of them show, JSON, or what Parquet stores.

A value has one text, whatever shows it: the table, a cell of CSV, a page, and a number in JSON. DuckDB writes it, so
that no digit is lost between two programs.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from duckdb import sqltypes

from talkhouse.schema.sql import literal, quoted

_FLOATS = ("double", "float")
_WHOLE = ("tinyint", "smallint", "integer", "bigint", "hugeint")
_NUMBERS = frozenset({*_WHOLE, *(f"u{name}" for name in _WHOLE), "bignum", "decimal", *_FLOATS})
_LISTS = ("list", "array")
_NESTED = frozenset({*_LISTS, "struct", "tuple", "map", "union"})

_STORED_AS = {
    "hugeint": "decimal(38, 0)",
    "uhugeint": "decimal(38, 0)",
    "bignum": "varchar",
    "bit": "varchar",
    "interval": "varchar",
    "time with time zone": "varchar",
}
"""Types that Parquet has not. A sum of integers is a HUGEINT; DuckDB raises where one has 39 digits."""

_PACKED_AS = {**_STORED_AS, "uuid": "varchar", "enum": "varchar"}
"""The same, and types that Parquet has and the programs that packages are for have not."""

_NOT_IN_PACKAGES = frozenset({"map", "union", "tuple", "variant"})
"""Types that none of these programs has; ``datasets`` fails on a file with one of them."""

_MAY_HAVE_NAN = r"(?i)(?:^|[\[:,])\s*-?(?:nan|inf|infinity)\s*(?:[,\]}]|$)"
"""Matches JSON in which DuckDB has written NaN or infinity, and texts that look like it."""

_FORMULA = r"^[=+\-@\t\r\n\x00" + "\uff1d\uff0b\uff0d\uff20]"
"""Matches the beginning of a text that some spreadsheet takes for a formula, as OWASP lists them: also the full-width
signs, and what spreadsheets skip before a sign."""

_AFTER_APOSTROPHE = r"'\0"

_PARTS_OF_JSON = r'"(?:[^"\\]|\\.)*"|[^"]+'
"""Matches the texts in JSON, and what stands between them."""


class QueryColumn(NamedTuple):
    """A column of a query, and SQL expressions of its value."""

    name: str
    """What expressions call it: the query may name two columns alike, or one "default"."""
    type: sqltypes.DuckDBPyType
    title: str
    """Its name in the query."""
    key: str
    """The same, made unique where the query names two columns alike."""

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers."""
        return self.type.id in _NUMBERS

    def as_text(self) -> str:
        """Return its value as text: JSON for lists and structs, DuckDB's spelling for the rest."""
        return _text(self.name, self.type)

    def as_cell(self, *, escape_formulas: bool = False) -> str:
        """Return its value as a cell of CSV, empty for null: numbers and truth values bare, text in double quotes."""
        text = self.as_text()
        if not self.is_number and self.type.id != "boolean":
            if escape_formulas:
                text = f"regexp_replace({text}, {literal(_FORMULA)}, {literal(_AFTER_APOSTROPHE)})"
            text = f"""'"' || replace({text}, '"', '""') || '"'"""
        return f"coalesce({text}, '')"

    def as_stored(self) -> str:
        """Return its value as a type that Parquet has."""
        stored = _stored(self.type)
        return self.name if stored is None else f"{self.name}::{stored}"

    def as_packed(self) -> str:
        """Return its value as a type that other programs read from Parquet, as text where they have none."""
        if _holds(self.type, _NOT_IN_PACKAGES):
            return self.as_text()
        packed = _stored(self.type, _PACKED_AS)
        return self.name if packed is None else f"{self.name}::{packed}"

    def as_json(self) -> str:
        """Return its value as JSON; SQL's null where it is null."""
        return _json(self.name, self.type, strict=True)


def json_object(columns: Sequence[QueryColumn]) -> str:
    """Return a row as a JSON object; not by ``to_json`` of the row, which rewrites the numbers in JSON columns."""
    members = [_member(column.key, _or_null(column.as_json())) for column in columns]
    return _joined("{", members, "}")


def csv_line(columns: Sequence[QueryColumn], delimiter: str, *, escape_formulas: bool = False) -> str:
    """Return a row as a line of CSV."""
    cells = (column.as_cell(escape_formulas=escape_formulas) for column in columns)
    return f"concat_ws({literal(delimiter)}, {', '.join(cells)})"


def csv_head(columns: Sequence[QueryColumn], delimiter: str, *, escape_formulas: bool = False) -> str:
    """Return the names of columns as the first line of CSV."""
    titles = (column.title for column in columns)
    shown = (re.sub(_FORMULA, r"'\g<0>", title) if escape_formulas else title for title in titles)
    return delimiter.join('"' + title.replace('"', '""') + '"' for title in shown) + "\n"


def _text(x: str, kind: sqltypes.DuckDBPyType) -> str:
    if kind.id in _NESTED:
        return _json(x, kind, strict=False)
    if kind.id == "variant":
        json = f"to_json({x})"
        return (
            f"case when json_type({json}) in ('ARRAY', 'OBJECT') then {json}::varchar "
            f"when json_type({json}) = 'DOUBLE' then {_with_zero(x)} else {x}::varchar end"
        )
    if kind.id in _FLOATS:
        # DuckDB tells -nan from nan, which processors make as they like.
        return f"if(isnan({x}), 'nan', {x}::varchar)"
    if kind.id == "decimal" and len({size for _, size in kind.children}) == 1:
        # As all of its digits stand behind the point, DuckDB writes .5 for a half.
        return _with_zero(x)
    return f"{x}::varchar"


def _with_zero(x: str) -> str:
    """Return the text of a number with a digit before the point, as JSON has it."""
    return rf"regexp_replace({x}::varchar, '^(-?)\.', '\10.')"


def _json(x: str, kind: sqltypes.DuckDBPyType, *, strict: bool, depth: int = 0) -> str:
    """Return a value as JSON, null where it is; ``strict`` writes null for NaN and infinity, which JSON has not.

    DuckDB's to_json would write a FLOAT as the double that is nearest, and 12.5 for 12.50.
    """
    if str(kind) == "JSON":
        # Line ends are blanks between its parts: inside a text JSON has them escaped.
        text = rf"translate({x}::varchar, e'\n\r', '  ')"
        return _without_nan(text) if strict else text
    if kind.id in _FLOATS:
        return f"case when isfinite({x}) then {x}::varchar {'' if strict else _named(x)} end"
    if kind.id in _NUMBERS:
        return _text(x, kind)
    if kind.id == "variant":
        json = f"to_json({x})"
        number = f"when json_type({json}) = 'DOUBLE' and isfinite(try_cast({x} as double)) then {_with_zero(x)}"
        written = _without_nan(f"{json}::varchar") if strict else f"{json}::varchar"
        none = f"when json_type({json}) = 'DOUBLE' then null" if strict else ""
        return f"case {number} {none} else {written} end"
    if _is_written_by_duckdb(kind):
        return f"to_json({x})::varchar"
    return f"case when {x} is not null then {_nested_json(x, kind, strict=strict, depth=depth)} end"


def _without_nan(json: str) -> str:
    """Return JSON that DuckDB may have written, with null for NaN and infinity."""
    null = r"regexp_replace(part, '(?i)-?(nan|infinity|inf)', 'null', 'g')"
    parts = f"regexp_extract_all({json}, {literal(_PARTS_OF_JSON)})"
    replaced = f"list_transform({parts}, lambda part: if(part[1] = '\"', part, {null}))"
    return (
        f"case when regexp_matches({json}, {literal(_MAY_HAVE_NAN)}) then array_to_string({replaced}, '') "
        f"else {json} end"
    )


def _named(x: str) -> str:
    return f"when isnan({x}) then 'NaN' when {x} > 0 then 'Infinity' when {x} < 0 then '-Infinity'"


def _is_written_by_duckdb(kind: sqltypes.DuckDBPyType) -> bool:
    """Whether to_json writes a value as we want it, with all that is in it."""
    if kind.id in _NESTED:
        return all(_is_written_by_duckdb(child) for _, child in _children(kind))
    return not (kind.id in (*_FLOATS, "decimal", "variant") or str(kind) == "JSON")


def _children(kind: sqltypes.DuckDBPyType) -> list[tuple[str, sqltypes.DuckDBPyType]]:
    """Return the members of a nested type: names, which tuples and lists lack, and types."""
    children = [(name, child) for name, child in kind.children if isinstance(child, sqltypes.DuckDBPyType)]
    return children[1:] if kind.id == "union" else children  # the first is its tag


def _nested_json(x: str, kind: sqltypes.DuckDBPyType, *, strict: bool, depth: int) -> str:
    item, children = f"e{depth}", _children(kind)

    def json(value: str, of: sqltypes.DuckDBPyType) -> str:
        return _or_null(_json(value, of, strict=strict, depth=depth + 1))

    def of_items(items: str, written: str) -> str:
        return f"array_to_string(list_transform({items}, lambda {item}: {written}), ',')"

    if kind.id in _LISTS:
        return _joined("[", [of_items(x, json(item, children[0][1]))], "]")
    if kind.id == "map":
        member = f"concat(to_json({item}.key::varchar)::varchar, ':', {json(f'{item}.value', children[1][1])})"
        return _joined("{", [of_items(f"map_entries({x})", member)], "}")
    if kind.id == "tuple":
        parts = [json(f"struct_extract({x}, {index})", child) for index, (_, child) in enumerate(children, 1)]
        return _joined("[", parts, "]")
    taken = "union_extract" if kind.id == "union" else "struct_extract"
    members = [(name, _member(name, json(f"{taken}({x}, {literal(name)})", child))) for name, child in children]
    if kind.id == "struct":
        return _joined("{", [member for _, member in members], "}")
    cases = " ".join(f"when {literal(name)} then {member}" for name, member in members)
    return _joined("{", [f"case union_tag({x}) {cases} end"], "}")


def _member(name: str, json: str) -> str:
    return f"concat(to_json({literal(name)})::varchar, ':', {json})"


def _joined(begin: str, parts: Sequence[str], end: str) -> str:
    """Write parts with commas between them; not by ||: each is a level, and DuckDB takes 1,000 levels."""
    return f"concat('{begin}', concat_ws(',', {', '.join(parts)}), '{end}')"


def _or_null(json: str) -> str:
    return f"coalesce({json}, 'null')"


def _holds(kind: sqltypes.DuckDBPyType, types: Collection[str]) -> bool:
    """Whether a type is one of these, or has one inside."""
    return kind.id in types or (kind.id in _NESTED and any(_holds(child, types) for _, child in _children(kind)))


def _stored(kind: sqltypes.DuckDBPyType, types: Mapping[str, str] = _STORED_AS) -> str | None:
    """Return the type that a value is stored as, by ``types``, or None if its own is one."""
    if kind.id not in _NESTED:
        return types.get(kind.id)
    known = [(name, str(child), _stored(child, types)) for name, child in _children(kind)]
    if all(stored is None for _, _, stored in known):
        return None
    inside = [stored or own for _, own, stored in known]
    if kind.id in _LISTS:
        return f"{inside[0]}[{dict(kind.children).get('size', '')}]"
    names = [quoted(name) if kind.id in ("struct", "union") else "" for name, _, _ in known]
    return (
        f"{kind.id}({', '.join(f'{name} {kind_of_child}' for name, kind_of_child in zip(names, inside, strict=True))})"
    )
