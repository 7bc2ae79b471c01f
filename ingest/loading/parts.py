"""Files of a corpus that are read apart, by other processes, to the rows of one that reads them in their order.

What a reader remembers of the files before is all that a file's rows depend on. So a file is read as if it were the
first, and tells what its memory took for new (a ledger). If files before have told nothing under these keys, the reader
was right. Otherwise it reads the file again, with what they have told, until nothing is missing. No row is changed
afterwards; those that a corpus has once, such as its speakers, are left out where a file before has them.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import NamedTuple

import polars as pl

from talkhouse.ingest.corpus import PartsReader
from talkhouse.ingest.files.disk_files import DiskFile
from talkhouse.ingest.keys import Ledger, Memory
from talkhouse.ingest.loading.batches import Batch
from talkhouse.ingest.loading.load import FileRead, Load, PartLoaded, at_full_speed
from talkhouse.ingest.loading.workers import Advance, Workers
from talkhouse.ingest.sources import SourceFile, opened

LEAST = 32_000_000
"""Bytes of a corpus from which on it is read apart: a process takes a second of processor time to start."""

_FILE = 500_000
"""Bytes that each file counts for beside its own: a reader takes 25 ms for a file, however small."""

TOGETHER = 4_000_000
"""Bytes of small files that are a part together, which costs 17 ms more than to read them here; so counted, too."""

_AHEAD = 256_000_000
"""Bytes of files that are read ahead, though one before them is not done: so much lies in the workspace."""


def read_apart(load: Load, files: list[SourceFile], workers: Workers) -> bool:
    """Read a corpus's files apart; return False, and nothing has been done, where they are not to be."""
    reader = load.corpus.parts
    if reader is None or workers.count < 2:
        return False
    passed_over, wanted = reader.sort_out(files)
    parts = _parts(wanted)
    if len(parts) < 2 or sum(part.cost for part in parts) < LEAST:
        return False
    load.take(passed_over)
    by_id = {file.id: file for file in wanted}
    known = Ledger()
    with TemporaryDirectory(dir=workers.folder) as folder, workers.working(load.advance):
        submitted = ahead = 0
        for number, part in enumerate(parts):
            while submitted < len(parts) and (submitted - number < workers.count or ahead < _AHEAD):
                workers.submit(submitted, _PartTask(reader, parts[submitted], Path(folder), Ledger()))
                ahead += parts[submitted].size
                submitted += 1
            answer, seed = workers.result(number), Ledger()
            while needed := known.contested(answer.ledger):
                shutil.rmtree(answer.folder)
                seed.add(needed)
                workers.submit(number, _PartTask(reader, part, Path(folder), seed))
                answer = workers.result(number)
            load.take_part(answer.loaded(part.size), by_id, known.repeated(answer.ledger))
            shutil.rmtree(answer.folder)
            known.add(answer.ledger)
            ahead -= part.size
    load.take(reader.end(wanted, known.tallies))
    return True


@dataclass(frozen=True)
class _Part:
    disks: tuple[DiskFile, ...]
    wanted: frozenset[str]
    """Ids of the files in it, of an archive perhaps some."""
    size: int

    @property
    def cost(self) -> int:
        """What it takes to read it, in bytes of a large file."""
        return self.size + _FILE * len(self.wanted)

    def and_then(self, other: "_Part") -> "_Part":
        """Return both as one part."""
        return _Part(self.disks + other.disks, self.wanted | other.wanted, self.size + other.size)


def _parts(files: list[SourceFile]) -> list[_Part]:
    """Return parts of a file on disk or of several small ones, in order.

    There are none where the files of an archive don't follow one another.
    """
    grouped = [(disk, list(some)) for disk, some in groupby(files, key=lambda file: file.disk)]
    if len({disk.stat.path for disk, _ in grouped}) < len(grouped):
        return []
    parts: list[_Part] = []
    for disk, some in grouped:
        part = _Part((disk,), frozenset(file.id for file in some), sum(file.size for file in some))
        if parts and parts[-1].cost + part.cost <= TOGETHER:
            parts[-1] = parts[-1].and_then(part)
        else:
            parts.append(part)
    return parts


class _Answer(NamedTuple):
    """What a process has made of a part."""

    folder: Path
    written: list[tuple[str, Path]]
    """Tables, and files with rows of them."""
    ledger: Ledger
    files: Mapping[str, FileRead]
    findings: int
    refusal: str
    made_from: str | None

    def loaded(self, size: int) -> PartLoaded:
        """Return it with the rows, which are read from their files one batch after the other."""
        batches = (Batch(table, pl.read_ipc(path)) for table, path in self.written)
        batch_size = size // max(len(self.written), 1)
        return PartLoaded(self.files, batches, batch_size, self.findings, self.refusal, self.made_from)


@dataclass(frozen=True)
class _PartTask:
    """Read a part behind parts that have told this; in another process."""

    reader: PartsReader
    part: _Part
    folder: Path
    seed: Ledger

    def __str__(self) -> str:
        first, *others = self.part.disks
        return f"{first.location}{f' and {len(others)} more' if others else ''}"

    def __call__(self, advance: Advance) -> _Answer:
        """Read it."""
        # A name of its own: what a process has written that was killed is not taken for this one's.
        sink = _FrameFiles(Path(mkdtemp(dir=self.folder)))
        load = Load(self.reader.corpus(), [sink], advance)
        memory = Memory(self.seed)
        with opened([*self.part.disks]) as (files, _), load.batches, at_full_speed():
            wanted = [file for file in files if file.id in self.part.wanted]
            with load.faults_of_the_reader():
                load.take(self.reader.read(wanted, memory))
                load.batches.flush()
                load.batches.finish()
            counts = load.counts.by_id
            read = {file.id: FileRead(counts[file.id], file.sha256, file.has_bom) for file in wanted}
        return _Answer(sink.folder, sink.written, memory.ledger(), read, load.findings, load.refusal, load.made_from)


class _FrameFiles:
    """Where a process's rows go: into files of Arrow's, which another maps into its memory as they are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.written: list[tuple[str, Path]] = []

    def write(self, batch: Batch) -> None:
        """Write a batch."""
        path = self.folder / f"{len(self.written)}.arrow"
        # By Python, whose errors say that a disk is full.
        path.write_bytes(batch.frame.write_ipc(None).getbuffer())
        self.written.append((batch.table, path))

    def finish(self) -> None:
        """Do nothing: only what the task returns counts."""

    def close(self) -> None:
        """Do nothing."""
