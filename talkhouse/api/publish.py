"""What Python makes: a build of a warehouse, and a release of one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import polars as pl

from talkhouse.api.options import to_write
from talkhouse.api.warehouse import Warehouse
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import build as build_file
from talkhouse.releases.create import ReleaseRequest, create
from talkhouse.releases.store import RELEASES, store_of
from talkhouse.settings import corpus_folders, database

OnProgress = Callable[[str, int, int], None]
"""Called with the step, what is done of it, and what there is to do, 0 where that is not known."""


@dataclass(frozen=True)
class BuildReport:
    """What a build did.

    Attributes
    ----------
    path : pathlib.Path
        The warehouse.
    seconds : float
        How long it took.
    unchanged_since : datetime.datetime or None
        When the warehouse was built, UTC, where nothing had changed since; None where it was built now.
    notes : tuple of str
        What to know of it, such as folders that belong to no corpus.
    corpora : polars.DataFrame
        What it has of each corpus, as ``Warehouse.corpora`` returns it.
    """

    path: Path
    seconds: float
    unchanged_since: datetime | None
    notes: tuple[str, ...]
    corpora: pl.DataFrame = field(repr=False)


@dataclass(frozen=True)
class Release:
    """A state of a warehouse under a name, which never changes; ``talkhouse.warehouse("release:NAME")`` opens it.

    Attributes
    ----------
    name : str
        Its name.
    content_id : str
        The id of its contents, 64 hexadecimal digits: the same for the same rows.
    created_at : str
        When it was made, UTC, ISO 8601.
    path : pathlib.Path
        Its folder in the store, with its manifest.
    """

    name: str
    content_id: str
    created_at: str
    path: Path


def build(
    data: str | Path | None,
    *,
    db: str | Path | None,
    corpora: str | Path | Sequence[str | Path] | None,
    jobs: int | None,
    max_quarantine: int | str | None,
    on_progress: OnProgress | None,
) -> BuildReport:
    """Build or refresh a warehouse, as ``talkhouse.build`` says."""
    path = database(to_write(db))
    folders = [] if corpora is None else [corpora] if isinstance(corpora, str | Path) else corpora
    result = build_file(
        path,
        _Reported(on_progress or (lambda *_: None)),
        data=None if data is None else Path(data),
        limit=QuarantineLimit() if max_quarantine is None else QuarantineLimit(str(max_quarantine)),
        jobs=jobs,
        corpus_roots=corpus_folders([Path(folder) for folder in folders]),
    )
    with Warehouse(path) as warehouse:
        built = warehouse.corpora()
    return BuildReport(result.path, result.seconds, result.unchanged_since, tuple(result.notes), built)


def release(name: str, *, db: str | Path | None, store: str | Path | None) -> Release:
    """Make a release, as ``talkhouse.release`` says."""
    path = to_write(db)
    folder = store_of(None if store is None else Path(store), path)
    manifest = create(folder, database(path), ReleaseRequest(name)).data
    return Release(
        manifest["name"], manifest["content_id"], manifest["created_at"], folder / RELEASES / manifest["name"]
    )


class _Reported:
    """A progress that calls a function."""

    def __init__(self, call: OnProgress) -> None:
        self._call = call
        self._step, self._done, self._all, self._in_records = "", 0, 0, True

    def begin(self, step: str, *, records: int = 0, size: int = 0, unit: str = "records") -> None:
        self._step, self._done, self._in_records = step, 0, bool(unit) and (records > 0 or size == 0)
        self._all = records if self._in_records else size
        self._call(step, 0, self._all)

    def advance(self, records: int, size: int = 0) -> None:
        self._done += records if self._in_records else size
        self._call(self._step, self._done, self._all)

    def end(self) -> None:
        if self._all:
            self._call(self._step, self._all, self._all)

    def note(self, message: str) -> None:
        self._call(message, 0, 0)
