"""Which files are fetched, from which addresses: those that a corpus declares, or those of a user's file."""

from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import msgspec

from talkhouse.ingest.corpus import Corpus, Source
from talkhouse.ingest.files.archives import points_outside
from talkhouse.schema.errors import UsageError
from talkhouse.system.files import read_small


class _Given(msgspec.Struct, forbid_unknown_fields=True):
    path: str
    url: str
    sha256: str | None = None
    size: int | None = None


def sources_of(corpus: Corpus, file: Path | None) -> tuple[Source, ...]:
    """Return the files of a corpus: those that it declares, or those that ``file`` has for it.

    Raises UsageError for a file that is not of this form, and for a path or address that is never fetched.
    """
    given = _read(file).get(corpus.id) if file else None
    sources = corpus.sources if given is None else tuple(map(_source, given))
    for source in sources:
        problem = _problem(source)
        if problem:
            where = file if given is not None else f"the sources of {corpus.id}"
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


def _read(file: Path) -> Mapping[str, list[_Given]]:
    try:
        return msgspec.json.decode(read_small(file), type=dict[str, list[_Given]])
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(
            "the file of addresses can't be read",
            where=file,
            expected='JSON such as {"CORPUS": [{"path": "a.zip", "url": "https://...", "sha256": null, "size": null}]}',
            found=str(error),
        ) from error


def _source(given: _Given) -> Source:
    sha256 = given.sha256.lower() if given.sha256 else None
    return Source(given.path, given.url, sha256, size=given.size)


def _problem(source: Source) -> str | None:
    """Return why a file is never fetched."""
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
