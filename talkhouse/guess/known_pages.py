"""Pages of corpora that are known to be right: found by the names of files, and by what these hold.

``known/ID`` has the page of a corpus, ``corpus.toml``, an invented sample of its files, and what a plain parse of that
sample says (``expected.jsonl``). They lie here, and not in ``docs/``, so that an installed Talkhouse has them.
"""

import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from talkhouse.guess.guessed_folder import Look
from talkhouse.guess.sample import Most, Sample, sample
from talkhouse.ingest.declared.declaration import read_declaration
from talkhouse.ingest.declared.declaration.model import Files, JsonPath, matches, which
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.files.skipped import DECLARATION
from talkhouse.ingest.sources import opened

PAGES = Path(__file__).with_name("known")
_MOST = Most(300, 2_000_000)
"""How much of a file is looked at: enough to tell corpora apart."""
_MOST_ITEMS = 100
"""Records, and items of a list in them, whose fields are compared."""
_MOST_SET_ASIDE = 0.01
"""Share of a sample's records that its page may be unable to load: publishers' files have mistakes too."""


class KnownPage:
    """The page of a corpus, with its sample."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.text = (folder / DECLARATION).read_text(encoding="utf-8")
        self.declaration = read_declaration(folder.name, self.text, str(folder / DECLARATION))

    def text_for(self, paths: Iterable[str]) -> str:
        """Return the page without the ``[[files]]`` that fit none of the paths, each of which would stop a build."""
        parts = [
            (part, part.startswith("[[files]]") and tomllib.loads(part)["files"]) for part in self.text.split("\n\n")
        ]
        return "\n\n".join(part for part, of in parts if not of or any(matches(of[0]["path"], path) for path in paths))

    def fields(self) -> set[JsonPath]:
        """Return the paths that every record of the sample has."""
        with opened(disk_files(self.folder / "sample", self.folder.name)) as (files, _):
            by_path = {"/".join(file.path.parts[1:]): file for file in files}
            samples = [sample(by_path[path], path, _MOST) for path in _first_files(self.entries(by_path))]
        return set.intersection(*(_paths([record]) for taken in samples if taken for record in taken.records))

    def entries(self, paths: Iterable[str]) -> dict[str, Files | None]:
        """Return the ``[[files]]`` of each path, None of those that are in none."""
        return {path: which(self.declaration, path) for path in paths}


def known_pages() -> Iterator[KnownPage]:
    """Yield all of them, by their ids."""
    yield from (KnownPage(path.parent) for path in sorted(PAGES.glob(f"*/{DECLARATION}")))


def look_by_page(corpus_id: str, seen: Look) -> tuple[Look, str] | None:
    """Return the look of a folder by the page that is known of its files, and its text; None where none is.

    A page fits where it has the names of files, where these have all fields that every record of its sample has, and
    where it reads them: nearly all records, as dialogues of several turns.
    """
    decoded = cache(lambda path: sample(seen.sources[path], path, _MOST))
    for page in known_pages():
        entries = page.entries(seen.sources)
        samples = {path: taken for path in _first_files(entries) if (taken := decoded(path)) is not None}
        if samples and page.fields() <= set.intersection(*(_paths(taken.records) for taken in samples.values())):
            text = page.text_for(seen.sources)
            if _reads(corpus_id, text, seen, samples):
                files = [(path, entry.split) for path, entry in entries.items() if entry and entry.skip is None]
                others = {path: entry.skip if entry else "not in the page" for path, entry in entries.items()}
                left = {path: reason for path, reason in (seen.left | others).items() if reason is not None}
                return Look(None, files, left=left, trial=seen.trial, known=page.declaration.title), text
    return None


def _reads(corpus_id: str, text: str, seen: Look, samples: dict[str, Sample]) -> bool:
    """Whether a page reads samples; what came of it is the trial of the look."""
    from talkhouse.guess.trial import read_samples  # with all that reads

    trial = read_samples(corpus_id, text, {path: (seen.sources[path], taken) for path, taken in samples.items()})
    seen.trial = trial
    return not trial.problem and trial.set_aside <= trial.records * _MOST_SET_ASIDE and trial.turns > trial.dialogues


def _first_files(entries: dict[str, Files | None]) -> list[str]:
    """List the first file of each ``[[files]]`` of dialogues."""
    return list(
        {entry.path: path for path, entry in reversed(entries.items()) if entry and entry.skip is None}.values()
    )


def _paths(items: list[object]) -> set[JsonPath]:
    """Return the paths of all members in the first items, as in a list of any; None stands for any item."""
    found = set[JsonPath]()
    ahead: list[tuple[object, JsonPath]] = [(item, ()) for item in items[:_MOST_ITEMS]]
    while ahead:
        value, path = ahead.pop()
        found.add(path)
        if isinstance(value, dict):
            ahead += [(member, (*path, name)) for name, member in value.items()]
        elif isinstance(value, list):
            ahead += [(item, (*path, None)) for item in value[:_MOST_ITEMS]]
    return found
