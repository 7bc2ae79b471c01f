"""Which files are fetched and from where, where they belong in a data folder, and the record of what was fetched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import msgspec

from talkhouse.ingest.corpus import Corpus, Source
from talkhouse.ingest.files.archives import points_outside
from talkhouse.ingest.files.disk_files import forbidden
from talkhouse.ingest.files.skipped import FETCH_FOLDER
from talkhouse.schema.errors import SourceError, UsageError
from talkhouse.system.atomic_output import atomic_file
from talkhouse.system.files import read_small, target_of


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    path: str
    url: str
    sha256: str | None = None
    size: int | None = None


def sources_of(corpus: Corpus, file: Path | None) -> tuple[Source, ...]:
    """Return the files of a corpus: those that it declares, or those that ``file`` has for it.

    Raises UsageError for a file that is not of this form, and for a path or address that is never fetched.
    """
    stated = _read(file).get(corpus.id) if file else None
    sources = corpus.sources if stated is None else tuple(map(_source, stated))
    for source in sources:
        problem = _problem(source)
        if problem:
            where = file if stated is not None else f"the sources of {corpus.id}"
            raise UsageError(problem, where=where, found=f"{source.path}, {source.url}")
    return sources


def parts_of(url: str) -> SplitResult | None:
    """Return the parts of an address; None for one that names no server by http or https."""
    try:
        parts = urlsplit(url)
        named = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1)
    except ValueError:
        return None
    return parts if named else None


def is_open_to_changes(source: Source) -> bool:
    """Whether anybody on the way could change a file unnoticed: it has no checksum, and comes without encryption."""
    parts = urlsplit(source.url)
    return parts.scheme == "http" and not source.sha256 and not is_loopback(parts.hostname)


def is_loopback(host: str | None) -> bool:
    """Whether a server is on this machine, by its name alone."""
    try:
        return host == "localhost" or ip_address(host or "").is_loopback
    except ValueError:
        return False


def _read(file: Path) -> Mapping[str, list[_Entry]]:
    try:
        return msgspec.json.decode(read_small(file), type=dict[str, list[_Entry]])
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(
            "the file of addresses can't be read",
            where=file,
            expected='JSON such as {"CORPUS": [{"path": "a.zip", "url": "https://...", "sha256": null, "size": null}]}',
            found=str(error),
        ) from error


def _source(entry: _Entry) -> Source:
    sha256 = entry.sha256.lower() if entry.sha256 else None
    return Source(entry.path, entry.url, sha256, size=entry.size)


def _problem(source: Source) -> str | None:
    """Return the reason why a file is never fetched."""
    names = source.path.split("/")
    if (
        "" in names
        or "." in names
        or "\\" in source.path
        or not source.path.isprintable()
        or points_outside(source.path)
    ):
        return "a path leads out of the corpus's folder, or is none"
    parts = parts_of(source.url)
    if parts is None or not source.url.isprintable():
        return "an address is not one of http or https"
    if parts.username or parts.password:
        return "an address has a user or password in it, which is never sent"
    return None


@dataclass(frozen=True)
class Places:
    """The places of one corpus in a data folder."""

    data: Path
    corpus_id: str

    @property
    def private(self) -> Path:
        """The folder of what is on its way, which a build passes over."""
        return self.data / FETCH_FOLDER

    @property
    def parts(self) -> Path:
        """The folder of what there is of this corpus's files."""
        return self.private / self.corpus_id

    @property
    def record(self) -> Path:
        """The record of what was fetched."""
        return self.private / f"{self.corpus_id}.json"

    @property
    def lock(self) -> Path:
        """The file that is there while somebody fetches this corpus."""
        return self.private / f"{self.corpus_id}.lock"

    def target(self, path: str) -> Path:
        """Return the path that a file belongs at."""
        return self.data / self.corpus_id / path

    def unpacked(self, holds: Sequence[str]) -> list[Path]:
        """Return the files that stand for an archive which a user has unpacked; empty where one of them is missing."""
        found = [next(iter(sorted(self.target("").glob(f"**/{path}"))), None) for path in holds]
        return [path for path in found if path is not None] if None not in found else []

    def part(self, path: str) -> Path:
        """Return the path of a file until it is whole."""
        return self.parts / f"{path}.part"

    def make(self) -> None:
        """Make the folder of what is on its way. Raises OSError, UsageError."""
        self.data.mkdir(parents=True, exist_ok=True)
        self.private.mkdir(mode=0o700, exist_ok=True)
        for folder in (self.private, self.parts):
            if folder.is_symlink():
                raise UsageError(
                    "this is a link, and nothing is written through links", where=folder, next_step="remove it"
                )

    def tidy(self) -> None:
        """Remove the folders of what is on its way, where they are empty."""
        folders = [path for path in self.parts.rglob("*") if path.is_dir()] if self.parts.is_dir() else []
        for folder in (*sorted(folders, reverse=True), self.parts, self.private):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()

    def check_target(self, path: str) -> Path:
        """Return the path that a file belongs at, without links; UsageError for a link of another user's, OSError."""
        return target_of(self.target(path))


class Fetched(msgspec.Struct, frozen=True, omit_defaults=True):
    """One file, as it was fetched."""

    path: str
    """In the corpus's folder."""
    url: str
    fetched_at: str
    """UTC."""
    bytes: int
    sha256: str
    is_published: bool
    """Whether the checksum is the publisher's too; otherwise it is that of the first download."""
    moved_to: str | None = None
    """The address that the server gives as the new one."""


class _Record(msgspec.Struct):
    corpus: str
    files: list[Fetched]


def read_record(file: Path) -> dict[str, Fetched]:
    """Read a record, by path; empty where there is none. Raises SourceError for one that is damaged."""
    try:
        record = msgspec.json.decode(file.read_bytes(), type=_Record)
    except FileNotFoundError:
        return {}
    except PermissionError as error:
        raise forbidden(file) from error
    except (OSError, msgspec.DecodeError) as error:
        raise SourceError(
            "the record of what was fetched can't be read",
            where=file,
            found=str(error),
            next_step="remove it: checksums that no publisher gives are then computed again from the files",
        ) from error
    return {file.path: file for file in record.files}


def write_record(file: Path, corpus_id: str, files: Mapping[str, Fetched]) -> None:
    """Write a record. Raises UsageError or OutputFailed."""
    record = _Record(corpus_id, [files[path] for path in sorted(files)])
    with atomic_file(file) as part:
        part.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
