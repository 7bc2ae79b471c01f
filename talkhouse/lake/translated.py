"""The views in the SQL of another engine, as ``translation.json`` has them."""

import re
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from talkhouse.lake.inside import Inside
from talkhouse.lake.manifest import Manifest, check_once, document
from talkhouse.lake.manifest import Name as Schema
from talkhouse.lake.spark_types import check_type, spark_type
from talkhouse.lake.view_sql import check_query
from talkhouse.schema.errors import LakeDamaged

NAME = "translation.json"

_WRITABLE = r"\A[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff`'\";\\$]+\Z"
"""What the name of a view may be: a script of Spark's is cut at semicolons, also at those inside of backticks."""

Name = Annotated[str, Meta(pattern=_WRITABLE, max_length=1000)]


class ViewColumn(msgspec.Struct, frozen=True):
    """A column of a view; ``type`` in DuckDB's words, ``spark_type`` in Spark's."""

    name: Name
    type: str
    spark_type: str
    comment: str

    def __post_init__(self) -> None:
        """Refuse a type that no column has: it stands in SQL as it is."""
        check_type(self.type)
        if self.spark_type != spark_type(self.type):
            raise ValueError(f"{self.type[:100]!r} is no {self.spark_type[:100]!r} in Spark")


class View(msgspec.Struct, frozen=True):
    """A view with the query that gives its rows, which names every relation with its schema."""

    schema: Schema
    name: Name
    comment: str
    grain: list[Name]
    """The columns that together name one row."""
    sql: str
    columns: list[ViewColumn]
    rules: list[str]
    """The rules of the translation that changed something."""

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


class LeftOut(msgspec.Struct, frozen=True):
    """A view that can't be had there, and why."""

    schema: str
    name: str
    reason: str

    @property
    def full_name(self) -> str:
        """The name as SQL writes it."""
        return f"{self.schema}.{self.name}"


class Translation(msgspec.Struct, frozen=True):
    """All views, each after those that it reads."""

    dialect: str
    views: list[View]
    unportable: list[LeftOut]

    def __post_init__(self) -> None:
        """Refuse a view that is there twice."""
        check_once(view.full_name for view in self.views)


def encode(translation: Translation) -> bytes:
    """Write a translation as JSON."""
    return msgspec.json.format(msgspec.json.encode(translation), indent=2) + b"\n"


def decode(content: bytes) -> Translation:
    """Read a translation; raises ValueError (msgspec's are such), RecursionError for anything else."""
    return msgspec.json.decode(content, type=Translation)


def read_translation(lake: Path, manifest: Manifest) -> Translation:
    """Read the views of a lake; LakeDamaged where they can't be read."""
    try:
        return decode(document(Inside(lake, manifest.snapshot), NAME))
    except (OSError, ValueError, RecursionError) as error:
        raise LakeDamaged(
            "the views of the lake can't be read",
            where=lake / manifest.snapshot / NAME,
            found=str(error),
            next_step="write the lake again with: talkhouse lake DIR",
        ) from error
