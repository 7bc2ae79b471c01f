"""``talkhouse restore``: the publisher's files, written back from the tables."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import decimal, escape, output
from talkhouse.cli.terminal.progress import ProgressBar
from talkhouse.settings import corpus_folders, database

if TYPE_CHECKING:
    from talkhouse.restore.output_paths import RestoredSource
    from talkhouse.restore.write_back import Restored

_SHOWN = 5


@options.command
@options.corpus_id
@options.path("--output", "folder", metavar="DIR", required=True, help="The folder to write to, new or empty.")
@options.flag("--archive", "archives", help="Write archives as archives, not as folders.")
@options.db
@options.corpus_folders
def command(corpus: str, folder: Path, archives: bool, db: Path | None, folders: tuple[Path, ...]) -> None:
    """Write the publisher's files of a corpus back, from the tables of the warehouse alone.

    Paths and names are the publisher's. JSON is equal in every value and in the order of its keys; text files are
    equal byte for byte. What could not be loaded comes from the quarantine. An archive becomes a folder of its members,
    or with --archive an archive with the same members; a .7z is a folder always.

    DIR gets its files all at once, when they are complete, and must be new or empty: nothing is overwritten. If some
    can't be written, they are named, the others are in DIR, and the exit code is 1.

    Examples:
        talkhouse restore dbdc3 --output dbdc3
        talkhouse restore dbdc3 --output ~/corpora/dbdc3 --archive
    """
    from talkhouse.ingest.registry import all_corpora
    from talkhouse.restore.write_back import SomeNotWritten, count_records, write_back
    from talkhouse.warehouse.opened import opened
    from talkhouse.warehouse.readers import reader_of
    from talkhouse.warehouse.relations import check_corpus

    with opened(database(db)) as warehouse, ProgressBar() as bar:
        con = warehouse.con
        check_corpus(con, corpus)
        known = reader_of(con, all_corpora(corpus_folders(folders)), corpus)
        bar.begin(f"restoring {corpus}", records=count_records(con, corpus))
        try:
            restored = write_back(
                con, known, folder, archives=archives, on_progress=bar.advance, check_complete=warehouse.check_complete
            )
        except SomeNotWritten as error:
            _show(corpus, folder, error.restored)
            raise
    _show(corpus, folder, restored)


def _show(corpus: str, folder: Path, restored: "Restored") -> None:
    """Print what was written, what of it came from the quarantine, and what is not in the warehouse."""
    output.print(
        f"Restored {restored.published_files:,} files of {corpus} ({decimal(restored.bytes)}) to {escape(str(folder))}",
        soft_wrap=True,
    )
    output.print(
        f"  {restored.records:,} records, {restored.quarantined:,} of them from the quarantine", soft_wrap=True
    )
    for (kind, note), count in Counter((source.kind, source.note) for source in restored.left_out).items():
        sources = [source for source in restored.left_out if (source.kind, source.note) == (kind, note)]
        output.print(f"  not restored, no data: {count:,} {_why(sources[0])}", soft_wrap=True)
        for source in sources[:_SHOWN]:
            output.print(f"    {escape(source.id)}", soft_wrap=True)
        if count > _SHOWN:
            output.print(f"    ... and {count - _SHOWN:,} more (meta.source_files has them all)", soft_wrap=True)


def _why(source: "RestoredSource") -> str:
    """Return why a file is not data."""
    return escape(source.note or "that the reader did not recognise")
