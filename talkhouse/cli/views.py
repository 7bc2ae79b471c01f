"""``talkhouse views``: what can be queried, and what it means."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from talkhouse.cli.terminal.completion import relations
from talkhouse.cli.terminal.console import Database, Json, Printer, output
from talkhouse.settings import database
from talkhouse.visible import visible, visible_json


def command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="A view or table, such as dbdc3.breakdown_detection.",
            autocompletion=relations,
        ),
    ] = None,
    db: Database = None,
    as_json: Json = False,
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


def _show(found: dict[str, Any]) -> None:
    name = escape(f"{found['schema']}.{found['name']}")
    output.print(f"[bold]{name}[/] ({found['rows']:,} rows)", soft_wrap=True)
    output.print(escape(found["comment"] or ""), soft_wrap=True)
    rows = [(one["name"], one["type"], one["meaning"] or "") for one in found["columns"]]
    _table(("column", "type", "meaning"), rows)


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Print a table that fits the terminal; elsewhere cut nothing off."""
    table = Table(box=box.SIMPLE, header_style="bold")
    for head in heads:
        table.add_column(head, overflow="fold", justify="right" if head == "rows" else "left")
    for row in rows:
        table.add_row(*(Text(visible(cell, lines=True)) for cell in row))
    (output if output.is_terminal else Printer(width=10_000)).print(table)
