"""Corpora that a page of TOML declares: in a folder, or kept in a warehouse. No code of theirs is imported.

The formats are imported where such a corpus is taken: most commands take none.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.files.skipped import DECLARATION
from talkhouse.schema.errors import RegistryError


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
