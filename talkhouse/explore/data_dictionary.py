"""The data dictionary: every table and view with its columns, written from the metadata and the catalogue.

``uv run pytest tests/talkhouse/explore/test_data_dictionary.py --regen`` writes ``docs/dictionary.md`` again.
"""

from collections.abc import Iterator, Sequence

import duckdb
from sqlalchemy import Table

from ingest.corpus import Corpus
from queries.catalogue import Query
from schema.tables import metadata, qualified


def render(con: duckdb.DuckDBPyConnection, corpora: list[Corpus], views: list[Query]) -> str:
    """Write the dictionary as Markdown; ``con`` is any built warehouse, for the types of the views' columns."""
    again = "Generated; `uv run pytest tests/talkhouse/explore/test_data_dictionary.py --regen` writes it again."
    lines = ["# Data dictionary", "", again, ""]
    lines += ["## Tables", ""]
    for table in metadata.tables.values():
        lines += _table(table)
    lines += ["## Views", "", "Beside each task view there is one view per split: `<view>_<split>`.", ""]
    for view in sorted(views, key=lambda one: one.full_name):
        lines += _view(con, view)
    lines += ["## Annotation schemes", ""]
    for corpus in corpora:
        for scheme in corpus.schemes:
            lines += [f"### {scheme.name}", "", f"{scheme.description} (of a {scheme.target})", ""]
            lines += _rows(("label", "meaning"), [(f"`{label}`", what) for label, what in scheme.labels.items()])
    return "\n".join(lines).rstrip() + "\n"


def _table(table: Table) -> Iterator[str]:
    yield from (f"### {qualified(table)}", "", f"{table.comment}", "")
    yield from (f"Grain: {', '.join(f'`{column}`' for column in table.info['grain'])}", "")
    rows = []
    for column in table.columns:
        targets = [f"{qualified(key.column.table)}" for key in column.foreign_keys if len(key.constraint.columns) == 1]  # type: ignore[union-attr]
        points = f" Points at {', '.join(targets)}." if targets else ""
        kind = "text" if column.type.__class__.__name__ in ("Text", "LongText") else str(column.type).lower()
        rows.append((f"`{column.name}`", kind, "" if column.nullable else "yes", f"{column.comment}{points}"))
    yield from _rows(("column", "type", "required", "meaning"), rows)


def _view(con: duckdb.DuckDBPyConnection, view: Query) -> Iterator[str]:
    yield from (f"### {view.full_name}", "", view.comment, "")
    yield from (f"Grain: {', '.join(f'`{column}`' for column in view.grain)}", "")
    columns = con.execute(
        "select column_name, data_type, comment from duckdb_columns() where schema_name = ? and table_name = ? "
        "order by column_index",
        [view.schema, view.name],
    ).fetchall()
    rows = [(f"`{name}`", kind.lower(), meaning or "") for name, kind, meaning in columns]
    yield from _rows(("column", "type", "meaning"), rows)


def _rows(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    for row in (heads, ("---",) * len(heads), *rows):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
    yield ""
