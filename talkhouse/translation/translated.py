"""The views in the SQL of another engine: what such SQL and types may be, and what is left out."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Annotated

import msgspec
from msgspec import Meta

Identifier = Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9_]*\Z", max_length=200)]
"""The name of a schema, a table, one of its columns, or a corpus."""

_WRITABLE = r"\A[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff`'\";\\$]+\Z"
"""What the name of a view may be: a script of Spark's is cut at semicolons, also at those inside of backticks."""

_ViewName = Annotated[str, Meta(pattern=_WRITABLE, max_length=1000)]
"""The name of a view, or of one of its columns."""


class ViewColumn(msgspec.Struct, frozen=True):
    """A column of a view; ``type`` in DuckDB's words, ``spark_type`` in Spark's."""

    name: _ViewName
    type: str
    spark_type: str
    comment: str

    def __post_init__(self) -> None:
        """Refuse a type that no column has: it stands in SQL as it is."""
        check_type(self.type)
        if self.spark_type != spark_type(self.type):
            raise ValueError(f"{self.type[:100]!r} is no {self.spark_type[:100]!r} in Spark")


class View(msgspec.Struct, frozen=True, omit_defaults=True):
    """A view with the query that gives its rows, which names every relation with its schema."""

    schema: Identifier
    name: _ViewName
    comment: str
    grain: list[_ViewName]
    """The columns that together name one row."""
    sql: str
    columns: list[ViewColumn]
    rules: list[str]
    """The rules of the translation that changed something."""
    without: list[str] = []
    """The tasks whose labels are missing here, where those of all tasks are, since their views are left out."""

    def __post_init__(self) -> None:
        """Refuse a name or a query that no view has, a column that is there twice, and a key of other columns."""
        if not re.search(_WRITABLE, self.name):
            raise ValueError(f"the name {self.name[:100]!r} can't be written in a script")
        check_query(self.sql)
        check_once(column.name for column in self.columns)
        if others := sorted({*self.grain} - {column.name for column in self.columns}):
            raise ValueError(f"{self.full_name} has no column {others[0][:100]!r}")

    @property
    def full_name(self) -> str:
        """The name as a user types it."""
        return f"{self.schema}.{self.name}"


class LeftOutView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A view that can't be had in the other engine, or some of whose rows can't, and why."""

    schema: str
    name: str
    reason: str
    part: str = ""
    """Which of its rows; empty where it is the view."""
    because: str = ""
    """The view that can't be translated, where this one is left out since it reads it, itself or through others."""

    @property
    def full_name(self) -> str:
        """The name as a user types it."""
        return f"{self.schema}.{self.name}"


class TranslatedViews(msgspec.Struct, frozen=True):
    """All views, each after those that it reads."""

    dialect: str
    views: list[View]
    unportable: list[LeftOutView]
    """The views that are not among them."""

    def __post_init__(self) -> None:
        check_once(view.full_name for view in self.views)

    @property
    def left_out(self) -> list[LeftOutView]:
        """The views that are not among them, and the rows that are missing in those that are."""
        return self.unportable + [
            LeftOutView(view.schema, view.name, f"{task} is left out", f"the labels of {task}", task)
            for view in self.views
            for task in view.without
        ]

    @property
    def tasks_without_labels(self) -> frozenset[str]:
        """The tasks whose labels are missing in the views of those of all tasks."""
        return frozenset(task for view in self.views for task in view.without)


def check_once(names: Iterable[str]) -> None:
    """Raise ValueError for a name that comes twice."""
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(f"{name[:100]!r} is there twice")


def encode(translation: TranslatedViews) -> bytes:
    """Write a translation as JSON."""
    return msgspec.json.format(msgspec.json.encode(translation), indent=2) + b"\n"


def decode(content: bytes) -> TranslatedViews:
    """Read a translation; raises ValueError (msgspec's are such), RecursionError for anything else."""
    return msgspec.json.decode(content, type=TranslatedViews)


_TOKEN = re.compile(
    r"""
    (?P<nothing>[ \t\r\n]+ | /\*(?!\+)(?:(?!/\*|\*/).)*\*/)
    | '(?:[^'\\]|\\.)*'
    | `(?P<name>[\w ]+)`
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)(?!['"`])
    | [0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?[A-Z]{0,2}\b
    | \|\| | -> | -(?!-) | /(?!\*) | \*(?!/) | [+%=<>!(),.\[\]]
    """,
    re.VERBOSE | re.DOTALL,
)
"""Only what reads alike wherever it is read: no double quotes, raw texts, line comments, hints or semicolons."""

_KEYWORDS = {
    *("ALL", "AND", "ANTI", "ANY", "AS", "BETWEEN", "BOTH", "BY", "CASE", "CROSS", "CUBE", "DISTINCT", "DIV", "ELSE"),
    *("EXCEPT", "EXISTS", "FILTER", "FROM", "GROUP", "HAVING", "IN", "INTERSECT", "IS", "JOIN", "LATERAL", "LEADING"),
    *("LIKE", "NOT", "ON", "OR", "OVER", "RLIKE", "ROLLUP", "SELECT", "SEMI", "SETS", "SOME", "THEN", "TRAILING"),
    *("UNION", "VALUES", "WHEN", "WHERE", "WITH"),
}
"""Words that parentheses may follow without being a call."""

_REFUSED = {"USING", "INSERT", "RECORDREADER", "RECORDWRITER"}
"""The words of clauses that run a script or write."""


@cache
def functions() -> frozenset[str]:
    """Return the functions that may be called, in capitals: those of Spark that do nothing but compute."""
    return frozenset((files(__package__) / "functions.txt").read_text(encoding="utf-8").upper().split())


@lru_cache(1024)  # each view is checked when it is translated, and again whenever a lake is read
def check_query(sql: str) -> None:
    """Raise ValueError for SQL that is more than a query, calls a function that is not listed, or names a file."""
    tokens = _tokens(sql)
    if tokens[:1] not in (["SELECT"], ["WITH"]):
        raise ValueError("this is not a query")
    depth = 0
    for (before, here), (_, after) in pairwise(pairwise(["", *tokens, ""])):
        depth += {"(": 1, ")": -1}.get(here, 0)
        is_call = after == "(" and (here[0] == "`" or here[0].isalpha() or here[0] == "_")
        if is_call and before != "AS" and (before == "." or here not in _KEYWORDS | functions()):
            raise ValueError(f"the query calls a function that no view calls: {here[:100].lower()}")
        if depth < 0 or here in _REFUSED:
            raise ValueError(f"the query has something that no view has: {here}")
    if depth:
        raise ValueError("the query has a parenthesis that is not closed")


def _tokens(sql: str) -> list[str]:
    tokens, place = [], 0
    while place < len(sql):
        found = _TOKEN.match(sql, place)
        if found is None or "${" in found[0]:
            raise ValueError(f"the query has something that no view has: {sql[place : place + 40]!r}")
        place = found.end()
        if not found["nothing"]:
            tokens.append(found[0].upper() if found["word"] else found[0])
    return tokens


_NAMES = {
    "VARCHAR": "string",
    "JSON": "string",
    "BOOLEAN": "boolean",
    "INTEGER": "int",
    "BIGINT": "bigint",
    "DOUBLE": "double",
    "DATE": "date",
    "TIMESTAMP": "timestamp_ntz",
    "BLOB": "binary",
}


def spark_type(name: str) -> str:
    """Return Spark's name of a type of DuckDB's, ``VARCHAR[]`` for example; KeyError for one that no column has."""
    return f"array<{spark_type(name.removesuffix('[]'))}>" if name.endswith("[]") else _NAMES[name]


def check_type(name: str) -> None:
    """Raise ValueError for a type that no column has."""
    try:
        spark_type(name)
    except (KeyError, RecursionError):
        raise ValueError(f"no column has the type {name[:100]!r}") from None


def spark_name(*parts: str) -> str:
    """Write a name, with its schema in front, in backticks."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


class Translated(msgspec.Struct, frozen=True, tag=True):
    """A query in Spark SQL."""

    sql: str
    rules: list[str]
    """The rules that changed something."""
    reads: list[str]
    """The tables and views that it reads."""


class NotTranslated(msgspec.Struct, frozen=True, tag=True):
    """Why a view can't be translated, and which construct of it."""

    reason: str


Outcome = Translated | NotTranslated
