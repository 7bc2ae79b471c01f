"""Writes a publisher's files back to disk: every record, from the tables alone, by way of the corpus's writer."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Self

import duckdb

from talkhouse.ingest.contract.faults import ContractBroken, failed
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.files.skipped import DECLARATION
from talkhouse.ingest.stored_record import StoredRecord
from talkhouse.restore.output_paths import OutputPaths, RestoredSource, sources
from talkhouse.restore.raw_record import consistent, pieces, text_ids_of
from talkhouse.restore.unload import stored_records
from talkhouse.schema.errors import CorpusFailed, OutputFailed, TalkhouseError, UsageError, joined
from talkhouse.system.atomic_output import atomic_folder

_SHOWN = 5
"""Files that could not be written, each with its error."""

_MOST_FAILED = 100
"""Files at which a writer may raise: for each, all others are written again."""

OnProgress = Callable[[int, int], None]
"""Called with how many more records and bytes are written."""


@dataclass
class Restored:
    """What was written back."""

    files: list[Path] = field(default_factory=list)
    published_files: int = 0
    """The publisher's files among them, members of archives counted one by one."""
    bytes: int = 0
    """Of their content; of archives, that of the members."""
    records: int = 0
    quarantined: int = 0
    """How many of the records came from the quarantine."""
    left_out: list[RestoredSource] = field(default_factory=list)
    """Files that are not data (skipped by name, or unrecognised); their content is not in the warehouse."""
    failed: list[CorpusFailed] = field(default_factory=list)
    """Why files are not written, each with its id."""


class SomeNotWritten(TalkhouseError):
    """Files that could not be written; the others are in ``restored``, and in their place."""

    def __init__(self, restored: Restored) -> None:
        self.restored = restored
        more = len(restored.failed) - _SHOWN
        shown = str(joined(restored.failed[:_SHOWN]))
        super().__init__(
            f"{shown}\n... and {more:,} more files; talkhouse verify names them all" if more > 0 else shown
        )


def write_back(
    con: duckdb.DuckDBPyConnection,
    corpus: Corpus,
    output: Path,
    *,
    archives: bool = False,
    on_progress: OnProgress = lambda *_: None,
    check_complete: Callable[[], None] = lambda: None,
) -> Restored:
    """Write every file of a corpus below ``output``, a folder that is new or empty, and return the files written.

    Nothing is in ``output`` before all of it is; ``check_complete`` is called right before and raises where it is not.
    Memory: some thousand records at a time, whatever the size of a file.

    Raises UsageError where the folder can't be, OutputFailed where there is no room, CorpusFailed where the writer
    raises at every file or leaves out one that was read, WarehouseDamaged where rows don't fit together or a name leads
    out of the folder. Raises SomeNotWritten where the writer raises at some files, and the others are written.
    """
    with atomic_folder(output) as folder, consistent(corpus.id):
        restored = fill(con, corpus, folder, archives=archives, on_progress=on_progress)
        check_complete()
    restored.files = [output.resolve() / path.relative_to(folder) for path in restored.files]
    if restored.failed:
        raise SomeNotWritten(restored)
    return restored


def fill(
    con: duckdb.DuckDBPyConnection,
    corpus: Corpus,
    folder: Path,
    *,
    archives: bool,
    placeholders: bool = False,
    on_progress: OnProgress = lambda *_: None,
) -> Restored:
    """Write every file of a corpus into a private folder.

    ``placeholders``: an empty file for each that is not data, and archives without data too, so that a build finds
    all of the publisher's files. Raises CorpusFailed where the writer raises at every file with data.
    """
    restored = Restored()
    output_paths = OutputPaths(folder, archives=archives, for_build=placeholders)
    write_files(con, corpus, output_paths, restored, on_progress)
    if restored.failed and not restored.published_files:
        raise restored.failed[0]
    with OpenFiles() as open_files:
        # The file that declares the corpus, if its data lie next to it: the warehouse has its content.
        for source in [source for source in restored.left_out if corpus.declaration and source.name == DECLARATION]:
            restored.left_out.remove(source)
            restored.published_files += 1
            open_files.append(output_paths.path(source), (corpus.declaration or "").encode())
        for source in restored.left_out if placeholders else ():
            open_files.append(output_paths.path(source), b"")
    if archives:
        others = (source.on_disk for source in sources(con, corpus.id) if source.kind == "archive")
        output_paths.pack(others if placeholders else ())
    restored.files = sorted(output_paths.files)
    return restored


def write_files(
    con: duckdb.DuckDBPyConnection,
    corpus: Corpus,
    output_paths: OutputPaths,
    restored: Restored,
    on_progress: OnProgress,
) -> None:
    """Write every file of a corpus to its output path, and add to what is done."""
    try:
        _Restoring(con, corpus, output_paths, restored).run(on_progress)
    except duckdb.Error as error:
        raise OutputFailed("the warehouse can't be read to its end", where=corpus.id, found=str(error)) from error


@dataclass(frozen=True)
class _Restoring:
    """A corpus on its way to disk."""

    con: duckdb.DuckDBPyConnection
    corpus: Corpus
    output_paths: OutputPaths
    restored: Restored
    """What is done."""

    def run(self, on_progress: OnProgress) -> None:
        known = sources(self.con, self.corpus.id)
        self.restored.left_out += [source for source in known if not source.is_data and source.kind != "archive"]
        for layer in _layers([source for source in known if source.is_data], archives=self.output_paths.archives):
            self._write_layer(layer, on_progress)

    def _write_layer(self, layer: dict[str, RestoredSource], on_progress: OnProgress) -> None:
        """Write files, all of them again without the one at which the writer raises: what it says of it is kept."""
        restored = self.restored
        while layer:
            written = Restored()
            try:
                with OpenFiles() as open_files:
                    self._write(layer, open_files, _Count(written, on_progress))
            except CorpusFailed as error:
                name = next((name for name, source in layer.items() if source.id == error.source_file_id), None)
                if name is None or len(restored.failed) == _MOST_FAILED:
                    raise
                restored.failed.append(error)
                for source in layer.values():
                    self.output_paths.discard(source)
                layer = {other: source for other, source in layer.items() if other != name}
                on_progress = _unseen  # what was written before is counted already
                continue
            restored.published_files += len(layer)
            restored.bytes += written.bytes
            restored.records += written.records
            restored.quarantined += written.quarantined
            return

    def _write(self, layer: Mapping[str, RestoredSource], open_files: "OpenFiles", count: "_Count") -> None:
        """Write the files that the corpus's writer yields; CorpusFailed where it raises, leaves one out or adds one.

        One that it leaves out may have been made from one of those that failed before.
        """
        corpus = self.corpus
        files = {source.id for source in layer.values()}
        records = count.records(stored_records(self.con, corpus.id, files, text_ids_of(corpus)), corpus.id)
        missing = dict(layer)
        for name, piece in pieces(corpus, records):
            if name not in layer:
                raise _mistake(corpus, f"writes a file that was never read: {name}")
            if missing.pop(name, None):
                piece = layer[name].bom + piece
            open_files.append(self.output_paths.path(layer[name]), piece)
            count.bytes(len(piece))
        for source in missing.values():
            if source.size > len(source.bom):
                file = source.id if self.restored.failed else None
                raise _mistake(corpus, f"leaves out a file that was read: {source.id}", file)
            open_files.append(self.output_paths.path(source), source.bom)  # a writer has no pieces for an empty file


def _unseen(*_: int) -> None:
    """Ignore progress."""


def count_records(con: duckdb.DuckDBPyConnection, corpus_id: str) -> int:
    """Count the records of a corpus, quarantined ones included, for progress."""
    query = "select coalesce(sum(records_in), 0) from meta.source_files where corpus_id = ?"
    return int(con.execute(query, [corpus_id]).fetchall()[0][0])


@dataclass(frozen=True)
class _Count:
    """Counts what is written, and reports it."""

    restored: Restored
    on_progress: OnProgress

    def records(self, records: Iterable[StoredRecord], corpus_id: str) -> Iterator[StoredRecord]:
        """Yield records, and count them; WarehouseDamaged where their rows don't fit together."""
        with consistent(corpus_id):
            for record in records:
                is_record = record.record is not None or record.raw is not None
                self.restored.records += is_record
                self.restored.quarantined += record.raw is not None
                self.on_progress(int(is_record), 0)
                yield record

    def bytes(self, number: int) -> None:
        """Count bytes."""
        self.restored.bytes += number
        self.on_progress(0, number)


def _layers(files: list[RestoredSource], *, archives: bool) -> Iterator[dict[str, RestoredSource]]:
    """Sort files into layers in which the writer's names for them are unique.

    Where archives become folders, one layer must do: UsageError.
    """
    rest = files
    while rest:
        layer: dict[str, RestoredSource] = {}
        twice = [source for source in rest if layer.setdefault(source.name, source) is not source]
        folders = {str(parent): source for source in rest for parent in PurePosixPath(source.name).parents}
        for other in (*twice, *(source for name, source in layer.items() if name in folders)):
            if not archives:
                first = layer[other.name] if other in twice else folders[other.name]
                raise UsageError(
                    "two files have the same name when archives are restored as folders",
                    found=f"{first.id} and {other.id}",
                    next_step="write archives as archives: --archive",
                )
        yield layer
        rest = twice


class OpenFiles:
    """Appends pieces to files, which it makes with their folders; use it in a ``with``."""

    def __init__(self) -> None:
        self._streams: OrderedDict[Path, IO[bytes]] = OrderedDict()
        self._begun: set[Path] = set()

    def append(self, path: Path, piece: bytes) -> None:
        """Write a piece to the end of a file; an empty one makes the file too.

        Raises OSError, FileExistsError where something else is there already.
        """
        stream = self._streams.get(path)
        if stream is None:
            if len(self._streams) == _OPEN:
                self._streams.popitem(last=False)[1].close()
            path.parent.mkdir(parents=True, exist_ok=True)
            # On some disks two paths are one: those that differ in case alone.
            stream = self._streams[path] = path.open("ab" if path in self._begun else "xb")
            self._begun.add(path)
        else:
            self._streams.move_to_end(path)
        stream.write(piece)

    def __enter__(self) -> Self:
        """Return itself; nothing is open yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close what is open, even where one file can't be closed because the disk is full."""
        try:
            for stream in self._streams.values():
                stream.close()
        finally:
            self._streams.clear()


def _mistake(corpus: Corpus, what: str, file: str | None = None) -> CorpusFailed:
    broken = ContractBroken(what, expected="every file that was read, and no other", found="another list of files")
    return failed(corpus, broken, "write", where=None, last=None, file=file)


_OPEN = 16
"""Files that are open at once: fewer than any system allows, more than a writer has on hand at a time."""
