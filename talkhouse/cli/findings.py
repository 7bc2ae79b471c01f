"""``talkhouse findings``: what was quarantined or warned about."""

import json
from itertools import groupby
from typing import Annotated, Any

import typer
from rich.markup import escape

from talkhouse.cli.terminal.completion import corpora
from talkhouse.cli.terminal.console import Database, Json, output
from talkhouse.settings import database

_SHOWN = 10


def command(
    db: Database = None,
    corpus: Annotated[
        str | None,
        typer.Option(
            "--corpus",
            metavar="ID",
            help="Only this corpus.",
            show_default=False,
            autocompletion=corpora,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say what was quarantined or warned about: the rule, the place, what was found, and what to do.

    Quarantined records are in meta.quarantine, byte for byte; all findings are in meta.findings.
    """
    import talkhouse
    from talkhouse.explore.findings import findings
    from talkhouse.relations import check_corpus

    with talkhouse.open(database(db)) as con:
        if corpus is not None:
            check_corpus(con, corpus)
        found = findings(con, corpus)
    if as_json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return
    show(found)


def show(found: list[dict[str, Any]]) -> None:
    """Print findings by rule, the first of each with their places."""
    if not found:
        output.print("No findings.")
    for (rule, severity), group in groupby(found, key=lambda one: (one["rule"], one["severity"])):
        some = list(group)
        colour = "red" if severity.startswith("reject") else "yellow"
        output.print(
            f"[bold]{rule}[/] [{colour}]{severity}[/] ({len(some):,}): {escape(some[0]['condition'])}", soft_wrap=True
        )
        for one in some[:_SHOWN]:
            place = f"{one['file'] or one['corpus_id'] or ''}{'#' + one['place'] if one['place'] else ''}"
            output.print(f"  {escape(place)}: {escape(one['detail'])}", soft_wrap=True)
        if len(some) > _SHOWN:
            output.print(f"  ... and {len(some) - _SHOWN:,} more (all of them: --json, or meta.findings)")
        output.print(f"  [dim]what to do:[/] {escape(some[0]['remedy'])}", soft_wrap=True)
