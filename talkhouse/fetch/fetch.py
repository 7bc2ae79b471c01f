"""What there is of a corpus's files, what is missing, and how that is fetched."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from errno import EXDEV
from pathlib import Path
from shutil import copyfile

from talkhouse.fetch.checks import Expected, check
from talkhouse.fetch.client import Client, NotFetched, Patience, ServerDown, host_of
from talkhouse.fetch.download import Download
from talkhouse.fetch.places import Fetched, Places, is_open_to_changes, read_record, write_record
from talkhouse.ingest.corpus import Corpus, Source
from talkhouse.ingest.progress import Progress
from talkhouse.schema.errors import FetchFailed, UsageError
from talkhouse.system.atomic_output import OutputMessages, atomic_file, output_errors
from talkhouse.system.files import Taken, locked, sync

_MESSAGES = OutputMessages(
    "there is no room for the file; the part already fetched is kept",
    "make room, or name a folder on another disk with --data, and run the same command again",
    "the file can't be read or written",
)


_OPEN = "a file without a checksum has an address by http, where anybody on the way can change it"


@dataclass(frozen=True)
class WantedFile:
    """A file that is not there yet."""

    source: Source
    expected: Expected


@dataclass(frozen=True)
class FetchRequest:
    """What a data folder has and lacks of a corpus's files."""

    corpus: Corpus
    places: Places
    there: tuple[Path, ...]
    wanted: tuple[WantedFile, ...]
    wrong: tuple[FetchFailed, ...]
    """Why others are not fetched: another file stands in their place, or anybody could change them on the way."""


def plan(corpus: Corpus, sources: Sequence[Source], data: Path) -> FetchRequest:
    """Look what there is in ``data``; nothing is written. Raises SourceError, UsageError, FetchFailed.

    Source: a file that is there is good if its checksum is the publisher's or, where none is published, that of its
    first download; one that was never fetched here, if it has the published size, is no page and no damaged archive.
    An archive is there, too, where all that stands for it is: the build refuses to read the same part twice.
    """
    places = Places(data, corpus.id)
    if data.exists() and not data.is_dir():
        raise UsageError("the data path is not a folder", where=data, next_step="name a folder: --data DIR")
    record = read_record(places.record)
    there, wanted, wrong = list[Path](), list[WantedFile](), list[FetchFailed]()
    for source in sources:
        target, expected = places.target(source.path), _expected(source, record.get(source.path), places)
        with output_errors(target, _MESSAGES):
            if not places.check_target(source.path).exists():
                if unpacked := places.unpacked(source.holds):
                    there.extend(unpacked)
                elif is_open_to_changes(source):
                    wrong.append(_failed(target, source, corpus, NotFetched(_OPEN, source.url)))
                else:
                    wanted.append(WantedFile(source, expected))
                continue
            try:
                if not target.is_file():
                    raise NotFetched("it is not a file")
                check(target, source.path, expected)
                there.append(target)
            except NotFetched as error:
                wrong.append(_in_its_place(target, source, corpus, error))
    return FetchRequest(corpus, places, tuple(there), tuple(wanted), tuple(wrong))


def fetch(request: FetchRequest, progress: Progress, patience: Patience) -> Iterator[Fetched | FetchFailed]:
    """Fetch what is wanted, one file after the other, and yield what became of each.

    Raises UsageError where the folder can't be written or somebody else fetches this corpus, OutputFailed for a full
    disk. What is here of a file stays for another run, however this one ends.
    """
    places, client, down = request.places, Client(patience), set[str]()
    with output_errors(places.private, _MESSAGES):
        places.make()
        try:
            with locked(places.lock):
                for wanted in request.wanted:
                    yield _outcome(wanted, request, client, patience, progress, down)
            places.tidy()
        except Taken:
            next_step = "wait until it is done"
            raise UsageError(
                "another process is fetching this corpus", where=places.private, next_step=next_step
            ) from None


def _outcome(
    wanted: WantedFile, request: FetchRequest, client: Client, patience: Patience, progress: Progress, down: set[str]
) -> Fetched | FetchFailed:
    source, places = wanted.source, request.places
    target, host = places.target(source.path), host_of(source.url)
    download = Download(source, wanted.expected, places.part(source.path), client, patience, progress)
    with output_errors(target, _MESSAGES):
        try:
            if host in down:
                raise NotFetched(f"not tried, since {host} can't be reached")
            if target.exists():  # meanwhile
                raise NotFetched("the file has appeared in the meantime", advice="run the same command again")
            sha256 = download.run()
        except NotFetched as error:
            if isinstance(error, ServerDown):
                down.add(host)
            return _failed(target, source, request.corpus, error)
        fetched = _fetched(source, download, sha256)
        write_record(places.record, request.corpus.id, {**read_record(places.record), source.path: fetched})
        _place(download, places.check_target(source.path))
    return fetched


def _fetched(source: Source, download: Download, sha256: str) -> Fetched:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    size = download.part.path.stat().st_size
    return Fetched(source.path, source.url, now, size, sha256, bool(source.sha256), download.moved)


def _place(download: Download, target: Path) -> None:
    """Move a whole file to where it belongs, at once."""
    part = download.part.path
    sync(part)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        part.rename(target)
    except OSError as error:
        if error.errno != EXDEV:
            raise
        with atomic_file(target) as beside:  # the corpus's folder is on another disk
            copyfile(part, beside)
        part.unlink()
    download.part.forget()


def _expected(source: Source, before: Fetched | None, places: Places) -> Expected:
    if source.sha256 is None and before is not None:
        return Expected(before.sha256, source.size, f"at {before.fetched_at} in {places.record}")
    return Expected(source.sha256, source.size)


def _failed(target: Path, source: Source, corpus: Corpus, error: NotFetched) -> FetchFailed:
    """Return the problem with a file, and how to get it all the same."""
    by_hand = f"{_by_hand(source, corpus)}, and put it at {target}"
    return FetchFailed(
        error.problem,
        where=target,
        expected=error.expected or None,
        found=error.found or None,
        next_step=f"{error.advice}; or {by_hand}" if error.advice else by_hand,
    )


def _in_its_place(target: Path, source: Source, corpus: Corpus, error: NotFetched) -> FetchFailed:
    return FetchFailed(
        f"{error.problem}; it is left as it is",
        where=target,
        expected=error.expected or None,
        found=error.found or None,
        next_step=f"move it away, and run the same command again; or {_by_hand(source, corpus)}",
    )


def _by_hand(source: Source, corpus: Corpus) -> str:
    about = f" (about it: {corpus.homepage})" if corpus.homepage else ""
    return f"get it by hand from {source.url}{about}"
