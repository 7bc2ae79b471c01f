"""``talkhouse status``: what is in the warehouse."""

from pathlib import Path

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import escape, output
from talkhouse.settings import database
from talkhouse.visible import visible_json


@options.command
@options.db
@options.as_json
def command(db: Path | None, as_json: bool) -> None:
    """Show what is in the warehouse: corpora, counts, files, findings, and when and from what it was built."""
    from talkhouse.cli.terminal.summary import show_corpora, size
    from talkhouse.explore.inventory import status
    from talkhouse.warehouse.opened import opened

    path = database(db)
    with opened(path) as warehouse:
        described = status(warehouse.con, path)
    if as_json:
        print(visible_json(described))
        return
    build = described["build"]
    output.print(size(described), soft_wrap=True)
    output.print(
        f"  built {build['finished_at']:%Y-%m-%d %H:%M} UTC by Talkhouse {escape(build['talkhouse_version'])} "
        f"from {escape(build['source'])} (build {build['load_id']})",
        soft_wrap=True,
    )
    show_corpora(described)
    if described["findings_without_corpus"]:
        output.print(f"  {described['findings_without_corpus']:,} findings about the data folder", soft_wrap=True)
