"""``talkhouse restore`` and ``verify``: the publisher's files, written back, and compared with those that came in."""

import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import decimal, escape, output, print_hanging, styled
from talkhouse.cli.terminal.progress import ProgressBar
from talkhouse.escaping import visible, visible_json
from talkhouse.schema.errors import OutputFailed, TalkhouseError, joined
from talkhouse.settings import corpus_folders, database

if TYPE_CHECKING:
    from talkhouse.restore.differences import FileDifference
    from talkhouse.restore.verify import Verdict
    from talkhouse.restore.write_back import Restored


_SHOWN = 5


@options.command
@options.corpus_id
@options.path("--output", "folder", metavar="DIR", required=True, help="The folder to write to, new or empty.")
@options.flag("--archive", "archives", help="Write archives as archives, not as folders.")
@options.db
@options.corpus_folders
def restore_command(corpus: str, folder: Path, archives: bool, db: Path | None, folders: tuple[Path, ...]) -> None:
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
            _print_restored(corpus, folder, error.restored)
            raise
    _print_restored(corpus, folder, restored)


def _print_restored(corpus: str, folder: Path, restored: "Restored") -> None:
    """Print what was written, what of it came from the quarantine, and what is not in the warehouse."""
    output.print(
        f"Restored {restored.published_files:,} files of {corpus} ({decimal(restored.bytes)}) to {escape(str(folder))}"
    )
    output.print(f"  {restored.records:,} records, {restored.quarantined:,} of them from the quarantine")
    for (kind, note), count in Counter((source.kind, source.note) for source in restored.left_out).items():
        sources = [source for source in restored.left_out if (source.kind, source.note) == (kind, note)]
        reason = escape(note or "that the reader did not recognise")
        output.print(f"  not restored, no data: {count:,} {reason}")
        for source in sources[:_SHOWN]:
            output.print(f"    {escape(source.id)}")
        if count > _SHOWN:
            output.print(f"    ... and {count - _SHOWN:,} more (meta.source_files has them all)")


_COLOURS = {"equal": "green", "not data": "dim"}
_REASONS = {
    "changed": "not the file that the warehouse was built from: it has changed since",
    "new": "the warehouse does not have it",
    "gone": "the warehouse has it, the folder does not",
}
_WIDTH = 11


@options.command
@options.data
@options.corpora
@options.db
@options.corpus_folders
@options.input_limit
@options.follow_links
@options.as_json
def verify_command(
    data: Path | None,
    corpus: tuple[str, ...],
    db: Path | None,
    folders: tuple[Path, ...],
    input_limit: tuple[str, ...],
    follow_links: bool,
    as_json: bool,
) -> None:
    """Prove that nothing was lost: restore all files from the tables alone, and compare them with the publisher's.

    Without --data, these are the files that the warehouse was built from.

    Each file is equal, or its first difference is shown with its location. JSON and JSON Lines must be equal in every
    value (1 is not 1.0) and in the order of their keys, Parquet in its schema and every value, a .gz in its content,
    anything else to the byte; members of archives are compared as files.

    A file that is not the one that the warehouse was built from is listed as changed, and not compared. Files that are
    not data (licences, notes, what the reader does not recognise) are not in the warehouse, and are listed as such.

    The files are written to the temporary folder (TMPDIR), one corpus at a time. Exit code 0: all equal;
    1: a file is different, changed, new or missing, or can't be restored; the others are still compared.

    Examples:
        talkhouse verify
        talkhouse verify --data ~/corpora --corpus dbdc3
    """
    from talkhouse.ingest.files.limits import parse
    from talkhouse.ingest.registry import all_corpora
    from talkhouse.restore.output_paths import files_built_from, files_in_folder
    from talkhouse.restore.verify import FINE, verify
    from talkhouse.restore.write_back import count_records
    from talkhouse.warehouse.opened import opened
    from talkhouse.warehouse.readers import kept_declarations, reader_of
    from talkhouse.warehouse.relations import check_corpus

    verdicts: list[Verdict] = []
    errors: list[TalkhouseError] = []
    with opened(database(db)) as warehouse, ProgressBar() as bar:
        con, limits = warehouse.con, parse(input_limit)
        known = all_corpora(corpus_folders(folders)).with_origins(kept_declarations(con))
        for name in corpus:
            check_corpus(con, name)
        present = sorted(set(corpus)) or warehouse.corpus_ids
        of_folder = files_in_folder(known, data, present, limits, follow_links=follow_links) if data else {}
        for name in of_folder if data and not corpus else present:
            try:
                reader = reader_of(con, known, name) if name in present else known[name]
                files = (
                    of_folder[name] if data else files_built_from(con, known, name, limits, follow_links=follow_links)
                )
                bar.begin(f"writing {name} back", records=count_records(con, name))
                verdicts += verify(con, reader, files, bar.advance)
            except OutputFailed:
                raise
            except TalkhouseError as error:
                errors.append(error)
        warehouse.check_complete()
    if as_json:
        print(visible_json([asdict(verdict) for verdict in verdicts]))
    else:
        for verdict in verdicts:
            _print(verdict)
        _print_summary(verdicts)
    sys.stdout.flush()
    if errors:
        raise joined(errors)
    if any(verdict.status not in FINE for verdict in verdicts):
        raise click.exceptions.Exit(1)


def _print(verdict: "Verdict") -> None:
    """Print what was found about one file."""
    head = styled(f"{verdict.status:<{_WIDTH}}", _COLOURS.get(verdict.status, "bold red"))
    print_hanging(head, styled(visible(verdict.file)))
    reason = _REASONS.get(verdict.status, verdict.reason)
    if verdict.difference:
        _print_difference(verdict.difference)
    elif reason:
        print_hanging(styled(" " * _WIDTH), styled(visible(reason), "dim"))


def _print_difference(difference: "FileDifference") -> None:
    if difference.pointer is None:
        location = f"line {difference.line:,}, byte {difference.byte:,}"
    else:
        location = difference.pointer or "(the whole file)"
    indent = " " * _WIDTH
    print_hanging(styled(indent), styled(visible(f"{location}: {difference.what}")))
    print_hanging(styled(f"{indent}published: ", "dim"), styled(visible(difference.expected or "")))
    print_hanging(styled(f"{indent}restored:  ", "dim"), styled(visible(difference.found or "")))


def _print_summary(verdicts: "list[Verdict]") -> None:
    """Print the counts of files and bytes in one line."""
    counts: Counter[Any] = Counter(verdict.status for verdict in verdicts)
    by = Counter(verdict.by for verdict in verdicts if verdict.by)
    size = sum(verdict.bytes for verdict in verdicts if verdict.by or verdict.difference)
    compared = counts["equal"] + counts["different"]
    parts = [f"{counts['equal']:,} equal ({by['bytes']:,} to the byte, {by['values']:,} in every value)"]
    others = ("different", "changed", "new", "gone", "failed", "not data")
    parts += [f"{counts[name]:,} {name}" for name in others if counts[name]]
    print_hanging(styled(f"{compared:,} files compared ({decimal(size)}): "), styled(", ".join(parts)))
