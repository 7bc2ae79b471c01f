"""Gives back what a publisher's files said: every record, from the tables alone, to the corpus's writer and to disk."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import duckdb

from ingest.corpus import Corpus
from ingest.stored_record import StoredRecord
from ingest.unload import stored_records
from schema.errors import OutputFailed, UsageError
from talkhouse.atomic_output import filled
from talkhouse.restore.open_files import OpenFiles
from talkhouse.restore.output_paths import OutputPaths, Source, sources

Told = Callable[[int, int], None]
"""Is told how many more records and bytes are written."""


@dataclass
class Restored:
    """What was written back."""

    files: list[Path] = field(default_factory=list)
    given: int = 0
    """Files of the publisher that were given back, members of archives included."""
    bytes: int = 0
    """Of their content: of archives that of the members."""
    records: int = 0
    quarantined: int = 0
    """How many of the records came from the quarantine."""
    left_out: list[Source] = field(default_factory=list)
    """Files that are no data (skipped by name, or unrecognised); their content is not in the warehouse."""


def restore(con: duckdb.DuckDBPyConnection, corpus: Corpus, output: Path, *, archives: bool = False) -> list[Path]:
    """Write every file of a corpus below ``output``, archives as folders of their members; gives the paths.

    With ``archives`` they are archives again. Raises as ``write_back`` does.
    """
    return write_back(con, corpus, output, archives=archives).files


def write_back(
    con: duckdb.DuckDBPyConnection,
    corpus: Corpus,
    output: Path,
    *,
    archives: bool = False,
    told: Told = lambda *_: None,
    whole: Callable[[], None] = lambda: None,
) -> Restored:
    """Write every file of a corpus below ``output``, a folder that is new or empty, and say what there is to say.

    Nothing is in ``output`` before all of it is; ``whole`` is called right before and raises where it is not all.
    Memory: some thousand records at a time, whatever the size of a file.

    Raises UsageError where the folder can't be, OutputFailed where there is no room or where the writer leaves out a
    file that was read, BuildFailed where a name in the warehouse points outside of the folder.
    """
    with filled(output) as folder:
        done = fill(con, corpus, folder, archives=archives, told=told)
        whole()
    done.files = [output.resolve() / path.relative_to(folder) for path in done.files]
    return done


def fill(
    con: duckdb.DuckDBPyConnection,
    corpus: Corpus,
    folder: Path,
    *,
    archives: bool,
    placeholders: bool = False,
    told: Told = lambda *_: None,
) -> Restored:
    """Write every file of a corpus into a private folder.

    ``placeholders``: an empty file for each that is no data, and archives without data too, so that a build finds
    every file of the publisher's.
    """
    done = Restored()
    shelf = OutputPaths(folder, archives=archives)
    write_files(con, corpus, shelf, done, told)
    with OpenFiles() as pieces:
        for source in done.left_out if placeholders else ():
            pieces.append(shelf.place(source), b"")
    if archives:
        others = (source.on_disk for source in sources(con, corpus.id) if source.kind == "archive")
        shelf.pack(others if placeholders else ())
    done.files = sorted(shelf.files)
    return done


def write_files(con: duckdb.DuckDBPyConnection, corpus: Corpus, shelf: OutputPaths, done: Restored, told: Told) -> None:
    """Write every file of a corpus to its place on a shelf, and add to what is done."""
    try:
        _write_layers(con, corpus, shelf, done, told)
    except duckdb.Error as error:
        raise OutputFailed("the warehouse can't be read to its end", where=corpus.id, found=str(error)) from error


def _write_layers(
    con: duckdb.DuckDBPyConnection, corpus: Corpus, shelf: OutputPaths, done: Restored, told: Told
) -> None:
    known = sources(con, corpus.id)
    done.left_out += [source for source in known if not source.is_data and source.kind != "archive"]
    with OpenFiles() as pieces:
        for layer in _layers([source for source in known if source.is_data], archives=shelf.archives):
            _write(con, corpus, layer, shelf, pieces, _Count(done, told))


def records_of(con: duckdb.DuckDBPyConnection, corpus_id: str) -> int:
    """Count the records of a corpus, quarantined ones included, for progress."""
    query = "select coalesce(sum(records_in), 0) from meta.source_files where corpus_id = ?"
    return int(con.execute(query, [corpus_id]).fetchall()[0][0])


@dataclass(frozen=True)
class _Count:
    """Counts what goes through, and tells of it."""

    done: Restored
    told: Told

    def records(self, some: Iterable[StoredRecord]) -> Iterator[StoredRecord]:
        """Count records on their way to the writer."""
        for one in some:
            is_record = one.record is not None or one.raw is not None
            self.done.records += is_record
            self.done.quarantined += one.raw is not None
            self.told(int(is_record), 0)
            yield one

    def bytes(self, number: int) -> None:
        """Count bytes on their way to disk."""
        self.done.bytes += number
        self.told(0, number)


def _layers(given: list[Source], *, archives: bool) -> Iterator[dict[str, Source]]:
    """Sort files by the names that the writer gives them; names that collide go to further layers.

    Where archives become folders, nothing may collide: UsageError.
    """
    rest = given
    while rest:
        layer: dict[str, Source] = {}
        twice = [source for source in rest if layer.setdefault(source.name, source) is not source]
        folders = {str(parent): source for source in rest for parent in PurePosixPath(source.name).parents}
        for other in (*twice, *(source for name, source in layer.items() if name in folders)):
            if not archives:
                one = layer[other.name] if other in twice else folders[other.name]
                raise UsageError(
                    "two files have one name when archives are folders of their members",
                    found=f"{one.id} and {other.id}",
                    next_step="give the archives back as archives, with --archive",
                )
        yield layer
        rest = twice


def _write(
    con: duckdb.DuckDBPyConnection,
    corpus: Corpus,
    layer: Mapping[str, Source],
    shelf: OutputPaths,
    pieces: OpenFiles,
    count: _Count,
) -> None:
    """Let the corpus's writer give some files; OutputFailed where it leaves one out or gives one that is none."""
    records = count.records(
        stored_records(con, corpus.id, {source.id for source in layer.values()}, corpus.text_ids_of)
    )
    missing = dict(layer)
    for name, piece in corpus.write(records):
        if name not in layer:
            raise _mistake(corpus, f"gives a file that was never read: {name}")
        if missing.pop(name, None):
            piece = layer[name].bom + piece
        pieces.append(shelf.place(layer[name]), piece)
        count.bytes(len(piece))
    for source in missing.values():
        if source.size > len(source.bom):
            raise _mistake(corpus, f"leaves out a file that was read: {source.id}")
        pieces.append(shelf.place(source), source.bom)  # no bytes are no pieces
    count.done.given += len(layer)


def _mistake(corpus: Corpus, what: str) -> OutputFailed:
    return OutputFailed(
        f"the writer of '{corpus.id}' {what}",
        expected="every file that was read, and no other",
        next_step="this is a mistake in Talkhouse and not in your data; report it with this message",
    )
