"""Pseudonyms in place of the ids of people: keyed hashes, the same in every table, file and run with one key."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb


@dataclass(frozen=True)
class Pseudonyms:
    """What replaces the ids of people in a warehouse."""

    fingerprint: str
    """Of the key, for manifests: it tells two keys apart and nothing of either."""

    def columns(self, relation: str, columns: Mapping[str, str]) -> dict[str, str]:
        """Return for the columns of people in a view or table, such as ``main.turns``, the expressions in their place.

        ``columns``: the names and SQL types of its columns. An expression reads only columns of the same row.
        """
        raise NotImplementedError


def pseudonyms(con: duckdb.DuckDBPyConnection, key_file: Path, output: Path) -> Pseudonyms:
    """Read a key and make the pseudonyms of all people of a warehouse. Raises UsageError for a key that is none."""
    raise NotImplementedError
