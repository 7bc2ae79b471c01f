"""What a build is to read: the folders of a data folder, files of one corpus, or samples; how much of it may fail."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.declared.declaration import from_options
from talkhouse.ingest.files.disk_files import DiskFile, disk_files, listing
from talkhouse.ingest.files.limits import DEFAULT, Boundary, Limits
from talkhouse.ingest.files.skipped import DECLARATION, skip_reason
from talkhouse.ingest.registry import Registry, pick, sample_of
from talkhouse.ingest.registry.origins import CorpusOrigin, DeclaredFolder, KeptDeclaration, is_declared
from talkhouse.schema.errors import RegistryError, SourceError, UsageError

SAMPLES = "samples"


@dataclass(frozen=True)
class Input:
    """The files of one corpus."""

    corpus: Corpus
    files: list[DiskFile]
    is_sample: bool = False


@dataclass(frozen=True)
class BuildRequest:
    """What a warehouse is to become.

    ``scope``: the corpora that the request decides about, None for all; others stay as they are. ``ignored``:
    what belongs to no corpus, with the reason.
    """

    inputs: tuple[Input, ...]
    scope: frozenset[str] | None
    source: str
    ignored: tuple[tuple[str, str], ...] = ()
    without_sample: tuple[str, ...] = ()
    """Corpora that would be in it if they had a sample."""
    left_out: tuple[tuple[str, str], ...] = ()
    """Corpora of broken packages, which were not requested."""
    remove: frozenset[str] = frozenset()
    """Corpora that go, named by the user; any other whose files are not in the data folder stops the build."""
    refused: frozenset[str] = frozenset()
    """Corpora that can't be loaded: what the warehouse has of them stays."""
    is_replay: bool = False
    """The files were written back from the previous warehouse: what it says about the publisher's files stays."""

    def without(self, corpus_id: str) -> "BuildRequest":
        """Return the request for all other corpora."""
        others = tuple(item for item in self.inputs if item.corpus.id != corpus_id)
        return replace(self, inputs=others, refused=self.refused | {corpus_id})

    @property
    def notes(self) -> list[str]:
        """What the user should know of it, a line each."""
        lines = [f"ignored the folder {name}: {why}" for name, why in self.ignored]
        if self.without_sample:
            lines.append(
                f"there is no sample of {', '.join(self.without_sample)}: build it from files, with --data DIR"
            )
        lines += [f"left out the sample of {name}: {why}" for name, why in self.left_out]
        return lines


def from_data(
    known: Mapping[str, Corpus],
    data: Path,
    only: Collection[str],
    limits: Limits = DEFAULT,
    *,
    follow_links: bool = False,
) -> BuildRequest:
    """Return a request for ``<data>/<corpus_id>/**`` of every corpus, or of those in ``only``.

    Links are followed that stay in ``data``, or, with ``follow_links``, all.
    """
    for corpus_id in only:
        pick(known, corpus_id)
    with listing(data):
        is_folder = data.is_dir()
        folders = sorted(path for path in data.iterdir() if path.is_dir()) if is_folder else []
    if not is_folder:
        raise SourceError(
            "the data path is not a folder" if data.exists() else "there is no such data folder",
            where=data,
            expected="a folder with one folder per corpus, named by its id",
            next_step="check the path, as seen from this folder",
        )
    folders = [path for path in folders if path.name in known or not skip_reason(path.name)]
    chosen = [path for path in folders if path.name in known and (not only or path.name in only)]
    missing = sorted(set(only) - {path.name for path in chosen})
    if missing or not chosen:
        raise SourceError(
            f"no folder of the corpus '{missing[0]}'" if missing else "no folder of a known corpus",
            where=data,
            expected=f"a folder named {' or '.join(missing or known)}",
            found=", ".join(path.name for path in folders) or "no folder at all",
            next_step="put each corpus's files, as published, into a folder named by its id; "
            "files of your own are declared by a corpus.toml: talkhouse new DIR",
        )
    others = [path for path in folders if not only and path.name not in known]
    for path in others:
        with listing(path):  # what may not be entered may be a corpus: it is not as if it were gone
            is_declared(path)
    ignored = tuple(
        (path.name, f"no corpus '{path.name}', and no corpus.toml in it; there are: {', '.join(known)}")
        for path in others
    )
    boundary = Boundary.around(data, follow_links=follow_links)
    inputs = tuple(Input(known[path.name], disk_files(path, path.name, limits, boundary)) for path in chosen)
    return BuildRequest(inputs, frozenset(only) or None, str(data.resolve()), ignored)


def from_paths(
    known: Mapping[str, Corpus],
    corpus_id: str,
    paths: list[Path],
    limits: Limits = DEFAULT,
    *,
    follow_links: bool = False,
) -> BuildRequest:
    """Return a request for files, folders or archives as one corpus.

    Each path may be a link; in a folder, links are followed that stay in it, or, with ``follow_links``, all.
    """
    corpus = pick(known, corpus_id)
    files: dict[str, DiskFile] = {}
    for path in paths:
        with listing(path):
            is_corpus_folder = path.is_dir() and path.resolve().name == corpus_id
            boundary = Boundary.around(path, follow_links=follow_links)
        prefix = corpus_id if is_corpus_folder else f"{corpus_id}/{path.resolve().name}"
        for file in disk_files(path, prefix, limits, boundary):
            if file.stat.path in files:
                raise UsageError(
                    "two of the paths have the same name",
                    where=path,
                    found=f"'{file.stat.path}' also comes from {files[file.stat.path].location}",
                    next_step="name their common parent folder instead",
                )
            files[file.stat.path] = file
    ordered = sorted(files.values(), key=lambda file: file.stat.path)
    source = " ".join(str(path.resolve()) for path in paths)
    return BuildRequest((Input(corpus, ordered),), frozenset([corpus_id]), source)


def from_samples(known: Registry, only: Collection[str]) -> BuildRequest:
    """Return a request for the bundled, invented samples: all of them, or that of each corpus in ``only``."""
    left_out: dict[str, str] = {}
    chosen = [pick(known, corpus_id) for corpus_id in only] or list(_unbroken(known, left_out))
    without = tuple(corpus.id for corpus in chosen if not any(sample_of(corpus).glob("*")))
    if without and (only or len(without) == len(chosen)):
        raise SourceError(
            f"there is no sample of {', '.join(without)}",
            where=sample_of(known[without[0]]),
            expected="a folder with invented files in the publisher's format",
            next_step="name a folder with the publisher's files: --data DIR",
        )
    # They belong to the installed package, which some installers make of links.
    anywhere = Boundary(None)
    inputs = tuple(
        Input(corpus, disk_files(sample_of(corpus), corpus.id, boundary=anywhere), is_sample=True)
        for corpus in chosen
        if corpus.id not in without
    )
    left = tuple(left_out.items())
    return BuildRequest(inputs, frozenset(only) or None, SAMPLES, without_sample=without, left_out=left)


def _unbroken(known: Registry, left_out: dict[str, str]) -> Iterator[Corpus]:
    """Yield all corpora but those of broken packages: they are installed, but not requested here."""
    for corpus_id in known:
        try:
            yield known[corpus_id]
        except RegistryError as error:
            if not known.is_installed(corpus_id):
                raise
            left_out[corpus_id] = f"{error.what}: {error.found}"


def declared_by_options(corpus_id: str, format_name: str, maps: Sequence[str], split: str | None) -> CorpusOrigin:
    """Declare a corpus by the options of a command; UsageError for one that is wrong."""
    return KeptDeclaration(from_options(corpus_id, format_name, maps, split), "options of talkhouse ingest")


def declared_beside(corpus_id: str, paths: Sequence[Path]) -> CorpusOrigin | None:
    """Find the declaration of the folder of this id that is named, or whose files are, or None if there is none.

    Raises UsageError for paths inside several such folders.
    """
    near = {folder for path in paths for folder in (path.resolve(), *path.resolve().parents)}
    folders = sorted(folder for folder in near if folder.name == corpus_id and is_declared(folder))
    if len(folders) > 1:
        raise UsageError(
            f"there are two declarations of '{corpus_id}'",
            found=" and ".join(str(folder / DECLARATION) for folder in folders),
            next_step="name paths of one folder",
        )
    return DeclaredFolder(folders[0], is_beside_data=True) if folders else None


def no_declaration(corpus_id: str, paths: Sequence[Path], guessed: str) -> UsageError:
    """Return the error of files that nothing declares, and that look like a known format; no guess loads anything."""
    named = " ".join(quote(str(path)) for path in paths)
    return UsageError(
        f"no declaration of '{corpus_id}'",
        found=f"files that look like {guessed}",
        next_step=f"talkhouse ingest {corpus_id} {named} --format {guessed}",
    )


@dataclass(frozen=True)
class QuarantineLimit:
    """How many records of a corpus may be in quarantine: a count, or a share of its records."""

    text: str = "1%"

    def __post_init__(self) -> None:
        """Refuse what is neither a count nor a percentage."""
        number = self.text.removesuffix("%")
        try:
            is_fine = 0 <= float(number) < math.inf and ("%" in self.text or number.isdigit())
        except ValueError:
            is_fine = False
        if not is_fine:
            raise UsageError(
                f"--max-quarantine {self.text}",
                expected="a count such as 5, or a percentage such as 0.5%",
                next_step="100% accepts everything",
            )

    def is_exceeded(self, quarantined: int, records: int, *, has_lost_count: bool) -> bool:
        """Whether so many of so many are too many; ``has_lost_count``: a file of unknown length was refused."""
        number = float(self.text.removesuffix("%"))
        if not self.text.endswith("%"):
            return quarantined > number
        if has_lost_count and number < 100:
            return True
        return quarantined * 100 > number * records
