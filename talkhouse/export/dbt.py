"""Writes ``--for dbt``: all views and tables of a warehouse as dbt's sources, with comments, keys and tests."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy import Column

from talkhouse.schema.tables import metadata, qualified
from talkhouse.system.atomic_output import atomic_file, check_free
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.relations import columns_of_each, relations


def write_sources(warehouse: Warehouse, output: Path, *, force: bool = False) -> int:
    """Write a YAML file of sources, one for each schema, and return the number of their tables.

    Tests are of what the schema promises: keys of one column are unique, columns that can't be null are not, and
    references lead somewhere. ``force`` replaces an existing file. Raises UsageError where one exists, and OutputFailed
    where there is no room.
    """
    check_free(warehouse.con, (output,), force=force)
    columns, sources = columns_of_each(warehouse.con), dict[str, list[dict[str, Any]]]()
    for each in relations(warehouse.con):
        known = _Known(warehouse, f"{each['schema']}.{each['name']}")
        table = {"name": each["name"], **_described(each["comment"])}
        described = [known.column(column) for column in columns[each["schema"], each["name"]]]
        sources.setdefault(each["schema"], []).append({**table, "columns": described})
    # By default, dbt-duckdb attaches a file by the same name as it is opened with here.
    listed = [{"name": schema, "database": warehouse.database, "tables": tables} for schema, tables in sources.items()]
    content = {"version": 2, "sources": listed}
    with atomic_file(output) as path:
        path.write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=120), encoding="utf-8")
    return sum(map(len, sources.values()))


def _described(text: str | None) -> dict[str, str]:
    """Return the description; dbt renders texts by Jinja, in which what stands in a literal is itself."""
    if not text:
        return {}
    is_code = any(mark in text for mark in ("{{", "{%", "{#"))
    return {"description": f"{{{{ {json.dumps(text)} }}}}" if is_code else text}


class _Known:
    """What the schema promises of a view or table."""

    def __init__(self, warehouse: Warehouse, full_name: str) -> None:
        table = next((table for table in metadata.tables.values() if qualified(table) == full_name), None)
        view = warehouse.view_file(full_name)
        self._grain = tuple(table.info["grain"]) if table is not None else view.grain if view else ()
        self._columns: Mapping[str, Column[Any]] = {} if table is None else dict(table.columns.items())

    def column(self, described: Mapping[str, Any]) -> dict[str, Any]:
        """Return a column as dbt has it: name, type, meaning, tests."""
        name = described["name"]
        tests = [*(["unique"] if self._grain == (name,) else []), *self._of_table(name)]
        return {
            "name": name,
            "data_type": described["type"],
            **_described(described["meaning"]),
            **({"data_tests": tests} if tests else {}),
        }

    def _of_table(self, name: str) -> Iterator[str | dict[str, Any]]:
        column = self._columns.get(name)
        if column is None:
            return
        if not column.nullable:
            yield "not_null"
        for key in column.foreign_keys:
            to = key.column.table
            if key.constraint is not None and len(key.constraint.elements) == 1:
                source = f"source('{to.schema or 'main'}', '{to.name}')"
                yield {"relationships": {"arguments": {"to": source, "field": str(key.column.name)}}}
