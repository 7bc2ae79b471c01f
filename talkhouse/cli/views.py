"""``talkhouse views``: what can be queried, and what it means."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import escape, output, print_table
from talkhouse.settings import database
from talkhouse.visible import visible, visible_json


@options.command
@options.relation
@options.db
@options.as_json
def command(name: str | None, db: Path | None, as_json: bool) -> None:
    """List the views with the meaning and number of their rows; with NAME, show its columns and what they mean."""
    from talkhouse.explore.inventory import view, views
    from talkhouse.warehouse.opened import opened

    with opened(database(db)) as warehouse:
        found: Any = view(warehouse.con, name) if name else views(warehouse.con)
    if as_json:
        print(visible_json(found))
    elif name:
        _show(found)
    else:
        rows = [(f"{one['schema']}.{one['name']}", f"{one['rows']:,}", one["comment"] or "") for one in found]
        _table(("view", "rows", "one row is"), rows)
        output.print("Columns and their meanings: talkhouse views NAME")


def _show(relation: dict[str, Any]) -> None:
    name = escape(f"{relation['schema']}.{relation['name']}")
    output.print(f"[bold]{name}[/] ({relation['rows']:,} rows)", soft_wrap=True)
    output.print(escape(relation["comment"] or ""), soft_wrap=True)
    columns = [(column["name"], column["type"], column["meaning"] or "") for column in relation["columns"]]
    _table(("column", "type", "meaning"), columns)


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    print_table(heads, [[visible(cell, lines=True) for cell in row] for row in rows], right=["rows"])
