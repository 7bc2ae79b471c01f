"""Where corpora come from: Talkhouse, packages, folders that a user names, and pages of TOML. Listing imports none.

Nothing in a data folder is ever imported; its folders with a ``corpus.toml`` are corpora. The formats of these are
imported where such a corpus is taken, since most commands take none.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import Distribution, EntryPoint, distributions
from pathlib import Path
from typing import Protocol

from talkhouse.ingest import corpora as shipped
from talkhouse.ingest.contract.definition import problems
from talkhouse.ingest.corpus import API, Corpus
from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.files.skipped import DECLARATION
from talkhouse.ingest.registry import importing
from talkhouse.schema.errors import RegistryError, UsageError, code_line, described, error_text

GROUP = "talkhouse.corpora"
"""The entry points of packages that bring corpora: the name is the corpus's id, the value its Corpus."""

OWN = Path(shipped.__path__[0])

BUILT_IN = "built in"
"""The origin of the corpora that come with Talkhouse."""

_ATTRIBUTE = "CORPUS"
_NOT_FOR_THIS = "if it is made for another Talkhouse, install the version of it, or of Talkhouse, that fits; else "


class CorpusOrigin(Protocol):
    """Where a corpus comes from; its text is what a warehouse says of it."""

    @property
    def corpus_id(self) -> str:
        """The id that the corpus is known by."""

    @property
    def place(self) -> str:
        """Where it lies, for who has it twice."""

    def load(self) -> Corpus:
        """Import it; RegistryError with the place and the reason where that fails."""

    def broken(self, reason: str) -> RegistryError:
        """Return the error of what is not as it has to be."""


@dataclass(frozen=True)
class Folder:
    """A folder with an ``__init__.py`` that has ``CORPUS``; its name is the id."""

    path: Path

    def __str__(self) -> str:
        return BUILT_IN if self.is_own else f"folder {self.path}"

    @property
    def is_own(self) -> bool:
        """Whether it comes with Talkhouse."""
        return self.path.parent == OWN

    @property
    def corpus_id(self) -> str:
        """The folder's name."""
        return self.path.name

    @property
    def place(self) -> str:
        """The folder."""
        return f"{self} ({self.path})" if self.is_own else str(self)

    def load(self) -> Corpus:
        """Import the folder."""
        with _blamed(self.place, self._raised):
            module = importing.own(self.path) if self.is_own else importing.folder(self.path)
            corpus = getattr(module, _ATTRIBUTE, None)
        with _blamed(self.place, self._raised, passes=RegistryError):
            if not isinstance(corpus, Corpus):
                raise self.broken(f"its __init__.py has no {_ATTRIBUTE} = Corpus(...)")
            if corpus.id != self.path.name:
                raise self.broken(f"CORPUS.id is '{corpus.id}'; it must be the folder's name")
            _check_api(corpus, self.path, "this folder")
            for problem in problems(corpus):
                raise self.broken(problem)
        return replace(corpus, folder=self.path)

    def _raised(self, error: BaseException) -> RegistryError:
        return self.broken(_reason(error, self.path))

    def broken(self, reason: str) -> RegistryError:
        """Return the error of a folder that is not as it has to be."""
        return RegistryError(
            f"the corpus folder '{self.path.name}' is broken",
            where=self.path,
            found=reason,
            next_step="fix the folder or remove it; a broken corpus is never skipped",
        )


@dataclass(frozen=True)
class PackagedCorpus:
    """A corpus that an installed package brings."""

    entry_point: EntryPoint
    name: str
    version: str
    location: str
    """The folder that the package is installed in."""

    def __str__(self) -> str:
        return f"package {self.name} {self.version}"

    @property
    def corpus_id(self) -> str:
        """The name of the entry point."""
        return self.entry_point.name

    @property
    def place(self) -> str:
        """The package, its version, and where it is installed."""
        return f"{self} ({self.location})"

    def load(self) -> Corpus:
        """Import the module that the entry point names."""
        folder = None
        with _blamed(self.place, self._raised):
            corpus, folder = importing.entry_point(self.entry_point)
        with _blamed(self.place, self._raised, passes=RegistryError):
            if not isinstance(corpus, Corpus):
                raise self.broken(f"{self.entry_point.value} is no Corpus, but a {type(corpus).__name__}")
            _check_api(corpus, self.place, f"the package {self.name}")
            if corpus.id != self.corpus_id:
                raise self.broken(f"its id is '{corpus.id}'; the entry point must have this name")
            for problem in problems(corpus):
                raise self.broken(problem)
        return replace(corpus, folder=folder)

    def _raised(self, error: BaseException) -> RegistryError:
        return self.broken(_reason(error, Path(self.location)), error)

    def broken(self, reason: str, error: BaseException | None = None) -> RegistryError:
        """Return the error of a package that is not as it has to be; ``error`` is what its import raised."""
        remove = f"repair it or remove it: pip uninstall {self.name}"
        return RegistryError(
            f"the corpus '{self.corpus_id}' of the {self} is broken",
            where=self.location,
            found=reason,
            next_step=(_NOT_FOR_THIS if _may_be_of_another(error) else "") + remove,
        )


@dataclass(frozen=True)
class DeclaredFolder:
    """A folder with a ``corpus.toml``; its name is the id."""

    path: Path
    is_beside_data: bool = field(default=False, compare=False)
    """Whether it lies in a data folder, and is not one that a user named for corpora: its SQL is then not run."""

    def __str__(self) -> str:
        # No path of a machine, so that a warehouse of the same files has the same rows wherever it is built.
        return f"{self.path.name}/{DECLARATION}"

    @property
    def corpus_id(self) -> str:
        """The folder's name."""
        return self.path.name

    @property
    def place(self) -> str:
        """The file."""
        return str(self.path / DECLARATION)

    def load(self) -> Corpus:
        """Read the declaration."""
        from talkhouse.ingest.declared.declaration import of_folder
        from talkhouse.ingest.declared.toml_corpus import declared_corpus

        return declared_corpus(of_folder(self.path))

    def broken(self, reason: str) -> RegistryError:
        """Return the error of a declaration that does not fit the others."""
        return _broken(self.corpus_id, self.place, reason)


@dataclass(frozen=True)
class KeptDeclaration:
    """A declaration that a warehouse has kept, or that a command's options are."""

    declaration: Declaration
    origin: str
    """What the warehouse says of it, or is to say."""

    def __str__(self) -> str:
        return self.origin

    @classmethod
    def read(cls, corpus_id: str, text: str, origin: str | None) -> "KeptDeclaration":
        """Read a declaration as ``main.corpora`` has it."""
        from talkhouse.ingest.declared.declaration import read_declaration

        return cls(read_declaration(corpus_id, text, f"the declaration of {corpus_id}"), origin or "a declaration")

    @property
    def corpus_id(self) -> str:
        """The id that it was made for."""
        return self.declaration.corpus_id

    @property
    def place(self) -> str:
        """Where it came from."""
        return self.origin

    def load(self) -> Corpus:
        """Make the corpus."""
        from talkhouse.ingest.declared.toml_corpus import declared_corpus

        return declared_corpus(self.declaration)

    def broken(self, reason: str) -> RegistryError:
        """Return the error of a declaration that does not fit the others."""
        return _broken(self.corpus_id, self.place, reason)


def _broken(corpus_id: str, place: str, reason: str) -> RegistryError:
    return RegistryError(f"the declaration of '{corpus_id}' is wrong", where=place, found=reason)


def declared_in(data: Path) -> Iterator[DeclaredFolder]:
    """List the folders of a data folder that have a declaration.

    What may not be read or entered has none here: who reads the data says so of all that is to be read.
    """
    with suppress(PermissionError):
        for path in sorted(data.iterdir()) if data.is_dir() else ():
            with suppress(PermissionError):
                if is_declared(path):
                    yield DeclaredFolder(path.absolute(), is_beside_data=True)


def is_declared(folder: Path) -> bool:
    """Whether a folder has a declaration."""
    return (folder / DECLARATION).is_file()


def folders_in(root: Path) -> list[Folder | DeclaredFolder]:
    """List the corpora of a folder: its subfolders with an ``__init__.py`` or a declaration, or itself with either.

    Raises UsageError where there is no such folder, or no corpus in it.
    """
    try:
        path = OWN if root.resolve() == OWN.resolve() else root.absolute()
        if path != OWN and (itself := _corpus_at(path)) is not None:
            return [itself]
        found = [corpus for child in sorted(path.iterdir()) if (corpus := _corpus_at(child)) is not None]
    except PermissionError as error:
        detail = error_text(error, Path(error.filename), another="name another with --corpora or TALKHOUSE_CORPORA")
        raise UsageError("this folder of corpora can't be read", where=root, **detail) from error
    except OSError as error:
        is_there = os.path.exists(root)  # noqa: PTH110 - never an error of its own, as Path.exists has them
        raise UsageError(
            "this is no folder of corpora" if is_there else "there is no such folder of corpora",
            where=root,
            found=str(error) if is_there else None,
            next_step="check --corpora and TALKHOUSE_CORPORA",
        ) from error
    if not found:
        raise UsageError(
            "no corpus in this folder",
            where=root,
            expected="a folder for each corpus, named by its id, with an __init__.py or a corpus.toml",
            found=", ".join(sorted(child.name for child in path.iterdir())[:5]) or "an empty folder",
            next_step="check --corpora and TALKHOUSE_CORPORA; data is named by --data",
        )
    return found


def _corpus_at(path: Path) -> "Folder | DeclaredFolder | None":
    if (path / "__init__.py").is_file():
        return Folder(path)
    return DeclaredFolder(path) if is_declared(path) else None


def packages() -> Iterator[PackagedCorpus]:
    """List the corpora of installed packages; a package that is found twice in one version is the first of them."""
    known: set[tuple[str, str, str]] = set()
    for distribution in distributions():
        for point in _entry_points(distribution):
            name, version = _named(distribution)
            if (point.name, name, version) not in known:
                known.add((point.name, name, version))
                yield PackagedCorpus(point, name, version, str(Path(str(distribution.locate_file("")))))


def _entry_points(distribution: Distribution) -> Iterable[EntryPoint]:
    """Return those of a package, of which most have none: their names and versions are not even read.

    Where the package's list of them is damaged, that is one which can't be loaded, named like the package.
    """
    try:
        text = distribution.read_text("entry_points.txt") or ""
        return distribution.entry_points.select(group=GROUP) if GROUP in text else ()
    except (TypeError, ValueError) as error:
        return [EntryPoint(_named(distribution)[0], f"entry_points.txt: {error}", GROUP)]


def _named(distribution: Distribution) -> tuple[str, str]:
    """Return the name and the version, which a half installed package may not say."""
    metadata = distribution.metadata
    return metadata["Name"] or "without a name", metadata["Version"] or "of no version"


def _reason(error: BaseException, folder: Path) -> str:
    line = code_line(error, folder)
    return described(error) + (f", {line}" if line else "")


@contextmanager
def _blamed(
    place: str, raised: Callable[[BaseException], RegistryError], *, passes: type[Exception] | tuple[()] = ()
) -> Iterator[None]:
    """Blame a corpus for whatever its code raises, also where one only looks at what it declares."""
    try:
        with importing.contained():
            yield
    except passes:
        raise
    except KeyboardInterrupt:
        # It may be what takes so long.
        raise KeyboardInterrupt(f"interrupted while this was imported: {place}") from None
    except BaseException as error:
        raise raised(error) from error


def _may_be_of_another(error: BaseException | None) -> bool:
    """Whether an import failed for a name that this Talkhouse does not have."""
    of_import = isinstance(error, ImportError) and (error.name or "").startswith(("talkhouse", "ingest"))
    return of_import or (isinstance(error, TypeError) and "unexpected keyword argument" in str(error))


def _check_api(corpus: Corpus, where: object, what: str) -> None:
    """Raise RegistryError for a corpus that is made for another API."""
    if corpus.api == API:
        return
    is_newer = isinstance(corpus.api, int) and corpus.api > API
    raise RegistryError(
        f"the corpus '{corpus.id}' is made for another API of Talkhouse",
        where=where,
        expected=f"api = {API}, which this Talkhouse has",
        found=f"api = {corpus.api!r}",
        next_step="install a newer Talkhouse: pip install --upgrade talkhouse"
        if is_newer
        else f"install a newer version of {what}, or an older Talkhouse",
    )
