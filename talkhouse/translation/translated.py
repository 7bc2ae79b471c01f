"""The views in the SQL of another engine, and what is left out."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import Meta

from talkhouse.translation.spark_types import check_type, spark_type
from talkhouse.translation.view_sql import check_query

Identifier = Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9_]*\Z", max_length=200)]
"""The name of a schema, a table, one of its columns, or a corpus."""

_WRITABLE = r"\A[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff`'\";\\$]+\Z"
"""What the name of a view may be: a script of Spark's is cut at semicolons, also at those inside of backticks."""

ViewName = Annotated[str, Meta(pattern=_WRITABLE, max_length=1000)]
"""The name of a view, or of one of its columns."""


class ViewColumn(msgspec.Struct, frozen=True):
    """A column of a view; ``type`` in DuckDB's words, ``spark_type`` in Spark's."""

    name: ViewName
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
    name: ViewName
    comment: str
    grain: list[ViewName]
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
        """The name as SQL writes it."""
        return f"{self.schema}.{self.name}"


class LeftOut(msgspec.Struct, frozen=True, omit_defaults=True):
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
        """The name as SQL writes it."""
        return f"{self.schema}.{self.name}"


class Translation(msgspec.Struct, frozen=True):
    """All views, each after those that it reads."""

    dialect: str
    views: list[View]
    unportable: list[LeftOut]
    """The views that are not among them."""

    def __post_init__(self) -> None:
        """Refuse a view that is there twice."""
        check_once(view.full_name for view in self.views)

    @property
    def left_out(self) -> list[LeftOut]:
        """The views that are not among them, and the rows that are missing in those that are."""
        return self.unportable + [
            LeftOut(view.schema, view.name, f"{task} is left out", f"the labels of {task}", task)
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


def encode(translation: Translation) -> bytes:
    """Write a translation as JSON."""
    return msgspec.json.format(msgspec.json.encode(translation), indent=2) + b"\n"


def decode(content: bytes) -> Translation:
    """Read a translation; raises ValueError (msgspec's are such), RecursionError for anything else."""
    return msgspec.json.decode(content, type=Translation)
