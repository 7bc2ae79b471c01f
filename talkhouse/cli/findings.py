"""``talkhouse findings``: what was quarantined or warned about."""

from typing import Annotated

import typer

from talkhouse.cli.terminal.completion import corpora
from talkhouse.cli.terminal.console import Database, Json
from talkhouse.settings import database
from talkhouse.visible import visible_json


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
    """List what was quarantined or warned about: the rule, where it applied, what was found, and what to do.

    Quarantined records are in meta.quarantine, byte for byte; all findings are in meta.findings.
    """
    from talkhouse.cli.terminal.finding_list import show_findings
    from talkhouse.explore.findings import findings
    from talkhouse.relations import check_corpus
    from talkhouse.warehouse.opened import opened

    with opened(database(db)) as warehouse:
        if corpus is not None:
            check_corpus(warehouse.con, corpus)
        found = findings(warehouse.con, corpus)
    if as_json:
        print(visible_json(found))
    else:
        show_findings(found)
