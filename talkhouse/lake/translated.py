"""The views in the SQL of another engine, as ``translation.json`` has them."""

from pathlib import Path

import msgspec

from schema.errors import LakeDamaged
from talkhouse.lake.manifest import Manifest

NAME = "translation.json"


class ViewColumn(msgspec.Struct, frozen=True):
    """A column of a view; ``type`` in DuckDB's words, ``spark_type`` in Spark's."""

    name: str
    type: str
    spark_type: str
    comment: str


class View(msgspec.Struct, frozen=True):
    """A view with the query that gives its rows, which names every relation with its schema."""

    schema: str
    name: str
    comment: str
    grain: list[str]
    """The columns that together name one row."""
    sql: str
    columns: list[ViewColumn]
    rules: list[str]
    """The rules of the translation that changed something."""

    @property
    def full_name(self) -> str:
        """The name as SQL writes it."""
        return f"{self.schema}.{self.name}"


class LeftOut(msgspec.Struct, frozen=True):
    """A view that can't be had there, and why."""

    schema: str
    name: str
    reason: str


class Translation(msgspec.Struct, frozen=True):
    """All views, each after those that it reads."""

    dialect: str
    views: list[View]
    unportable: list[LeftOut]


def encode(translation: Translation) -> bytes:
    """Write a translation as JSON."""
    return msgspec.json.format(msgspec.json.encode(translation), indent=2) + b"\n"


def decode(content: bytes) -> Translation:
    """Read a translation; raises msgspec.DecodeError for anything else."""
    return msgspec.json.decode(content, type=Translation)


def read_translation(lake: Path, manifest: Manifest) -> Translation:
    """Read the views of a lake; LakeDamaged where they can't be read."""
    path = lake / manifest.snapshot / NAME
    try:
        return decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise LakeDamaged(
            "the views of the lake can't be read",
            where=path,
            found=str(error),
            next_step="write the lake again with: talkhouse lake DIR",
        ) from error
