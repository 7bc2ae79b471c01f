"""``talkhouse findings``: what was quarantined or warned about."""

from pathlib import Path

from talkhouse.cli.terminal import options
from talkhouse.settings import database
from talkhouse.visible import visible_json


@options.command
@options.db
@options.corpus
@options.as_json
def command(db: Path | None, corpus: str | None, as_json: bool) -> None:
    """List what was quarantined or warned about: the rule, where it applied, what was found, and what to do.

    Quarantined records are in meta.quarantine, byte for byte; all findings are in meta.findings.
    """
    from talkhouse.cli.terminal.summary import show_findings
    from talkhouse.explore.inventory import findings
    from talkhouse.warehouse.opened import opened
    from talkhouse.warehouse.relations import check_corpus

    with opened(database(db)) as warehouse:
        if corpus is not None:
            check_corpus(warehouse.con, corpus)
        listed = findings(warehouse.con, corpus)
    if as_json:
        print(visible_json(listed))
    else:
        show_findings(listed)
