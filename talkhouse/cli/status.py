"""``talkhouse status``: what is in the warehouse."""

from rich.markup import escape

from talkhouse.cli.terminal.console import Database, Json, output
from talkhouse.settings import database
from talkhouse.visible import visible_json


def command(db: Database = None, as_json: Json = False) -> None:
    """Show what is in the warehouse: corpora, counts, files, findings, and when and from what it was built."""
    from talkhouse.cli.terminal.summary import show_corpora, size
    from talkhouse.explore.status import status
    from talkhouse.warehouse.opened import opened

    path = database(db)
    with opened(path) as warehouse:
        found = status(warehouse.con, path)
    if as_json:
        print(visible_json(found))
        return
    build = found["build"]
    output.print(size(found), soft_wrap=True)
    output.print(
        f"  built {build['finished_at']:%Y-%m-%d %H:%M} UTC by Talkhouse {escape(build['talkhouse_version'])} "
        f"from {escape(build['source'])} (build {build['load_id']})",
        soft_wrap=True,
    )
    show_corpora(found)
    if found["findings_without_corpus"]:
        output.print(f"  {found['findings_without_corpus']:,} findings about the data folder", soft_wrap=True)
