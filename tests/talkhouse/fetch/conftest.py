"""A server, and a way to fetch from it."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from talkhouse.fetch.client import Patience
from talkhouse.fetch.fetch import fetch, plan
from talkhouse.fetch.places import Fetched
from talkhouse.ingest.corpus import Corpus, Source
from talkhouse.ingest.registry import corpora
from talkhouse.schema.errors import FetchFailed
from tests.file_server import FileServer

QUICK = Patience(timeout=60, pause=0.001)
CORPUS = replace(next(iter(corpora().values())), id="talks", homepage="https://example.org/talks")


class Shown:
    """A progress bar's text."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.bytes = 0

    def begin(self, step: str, **_: object) -> None:
        """Note a step."""
        self.steps.append(step)

    def advance(self, _: int, size: int = 0) -> None:
        """Count bytes."""
        self.bytes += size


@dataclass
class Folder:
    """A data folder into which files of one corpus are fetched."""

    data: Path
    server: FileServer
    shown: Shown
    corpus: Corpus = CORPUS

    def fetch(self, *sources: Source, patience: Patience = QUICK) -> list[Fetched | FetchFailed]:
        """Plan and fetch these files."""
        request = plan(self.corpus, sources, self.data)
        return [*request.wrong, *fetch(request, self.shown, patience)]

    def source(self, path: str, sha256: str | None = None, size: int | None = None) -> Source:
        """Return a file of the server, which has it at this path."""
        return Source(path, f"{self.server.url}/{path}", sha256, size=size)

    def path(self, path: str) -> Path:
        """Return the path where a file belongs."""
        return self.data / "talks" / path

    def left(self) -> list[str]:
        """Name what is on its way."""
        parts = self.data / ".talkhouse-fetch" / "talks"
        return sorted(path.name for path in parts.rglob("*")) if parts.is_dir() else []


@pytest.fixture
def folder(tmp_path: Path, server: FileServer, monkeypatch: pytest.MonkeyPatch) -> Folder:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return Folder(tmp_path / "corpora", server, Shown())
