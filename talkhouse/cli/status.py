"""``talkhouse status``: what is in the warehouse."""

from pathlib import Path

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import escape, output
from talkhouse.settings import database
from talkhouse.visible import visible_json


@options.command
@options.db
@options.flag("--hash", "is_hashed", help="Also compute the id of its contents, which reads every value.")
@options.as_json
def command(db: Path | None, is_hashed: bool, as_json: bool) -> None:
    """Show what is in the warehouse: corpora, counts, files, findings, and when and from what it was built.

    The id of its contents is shown once a release was made of it, or --hash has computed it.
    """
    from talkhouse.cli.terminal.summary import show_corpora, size
    from talkhouse.explore.inventory import status
    from talkhouse.warehouse.content_ids import ContentIds, contents_of, keep_ids, known_ids
    from talkhouse.warehouse.opened import opened

    path = database(db)
    with opened(path) as warehouse:
        described = status(warehouse.con, path)
        ids = known_ids(warehouse.con, warehouse.database, path)
        if is_hashed and ids.content_id is None:
            ids = ContentIds(None, contents_of(warehouse.con, warehouse.database).content_id)
            keep_ids(path, ids)
    described.update(ids._asdict())
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
    if ids.content_id:
        release = f"release {escape(ids.release)}, " if ids.release else ""
        output.print(f"  {release}content id {ids.content_id}", soft_wrap=True)
    show_corpora(described)
    if described["findings_without_corpus"]:
        output.print(f"  {described['findings_without_corpus']:,} findings about the data folder", soft_wrap=True)
