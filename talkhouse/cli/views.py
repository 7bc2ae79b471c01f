"""``talkhouse views``: what can be queried, and what it means."""

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from talkhouse.cli.terminal.console import Printer, output
from talkhouse.cli.terminal.options import AsJson, Db, Relation
from talkhouse.settings import database
from talkhouse.visible import visible, visible_json


def command(
    name: Relation = None,
    db: Db = None,
    as_json: AsJson = False,
) -> None:
    """List the views with the meaning and number of their rows; with NAME, show its columns and what they mean."""
    from talkhouse.explore.views import view, views
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
    """Print a table that fits the terminal; elsewhere cut nothing off."""
    table = Table(box=box.SIMPLE, header_style="bold")
    for head in heads:
        table.add_column(head, overflow="fold", justify="right" if head == "rows" else "left")
    for row in rows:
        table.add_row(*(Text(visible(cell, lines=True)) for cell in row))
    (output if output.is_terminal else Printer(width=10_000)).print(table)
