"""How a corpus in a warehouse is read and was read: the reader, and which of the publisher's files.

What needs the reader says which package is missing, as the warehouse names it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

import duckdb

from talkhouse.escaping import visible
from talkhouse.ingest.corpus import Corpus, Source
from talkhouse.ingest.declared.declaration.model import FORMATS_VERSION
from talkhouse.ingest.files.archives import unpacked
from talkhouse.ingest.loading.vocabulary import is_declared
from talkhouse.ingest.registry.origins import KeptDeclaration
from talkhouse.schema.errors import RegistryError
from talkhouse.schema.sql import quoted

_PACKAGE = re.compile(r"package ([A-Za-z0-9][A-Za-z0-9._-]*) ([A-Za-z0-9][A-Za-z0-9.+!_-]*)")
_HAS_DECLARATIONS = (
    "select 1 from duckdb_columns() where database_name = current_database() "
    "and schema_name = 'main' and table_name = 'corpora' and column_name = 'declaration'"
)
_FOLDER = re.compile(r"folder (.+)", re.DOTALL)


def reader_of(con: duckdb.DuckDBPyConnection, known: Mapping[str, Corpus], corpus_id: str) -> Corpus:
    """Return the declaration of a corpus of this warehouse; RegistryError if it is not installed here or is broken.

    The warehouse itself has that of a corpus without code: what it was read by writes it back.
    """
    for declaration in kept_declarations(con, corpus_id):
        return declaration.load()
    if corpus_id not in known:
        row = con.execute("select origin from main.corpora where corpus_id = ?", [corpus_id]).fetchone()
        raise no_reader(corpus_id, row[0] if row else None)
    return known[corpus_id]


def changed_declarations(con: duckdb.DuckDBPyConnection, known: Mapping[str, Corpus]) -> Iterator[Corpus]:
    """Yield the known and sound corpora of this warehouse that declare something else of themselves now."""
    for (corpus_id,) in con.execute("select corpus_id from main.corpora order by all").fetchall():
        with suppress(RegistryError):
            if not is_declared(con, corpus := reader_of(con, known, corpus_id)):
                yield corpus


def current_versions(con: duckdb.DuckDBPyConnection, known: Mapping[str, Corpus]) -> dict[str, int]:
    """Return the version that the reader of each corpus of this warehouse has here; nothing of those without one."""
    found = {}
    for corpus_id, is_page in con.execute("select corpus_id, declaration is not null from main.corpora").fetchall():
        if is_page:
            found[corpus_id] = FORMATS_VERSION
        elif corpus_id in known:
            with suppress(RegistryError):
                found[corpus_id] = known[corpus_id].version
    return found


def kept_declarations(con: duckdb.DuckDBPyConnection, corpus_id: str | None = None) -> list[KeptDeclaration]:
    """Return the declarations that a warehouse has kept, of one corpus or of all; one of an older schema has none."""
    if not con.execute(_HAS_DECLARATIONS).fetchall():
        return []
    rows = con.execute(
        "select corpus_id, declaration, origin from main.corpora "
        "where declaration is not null and corpus_id = coalesce(?, corpus_id) order by all",
        [corpus_id],
    )
    return [KeptDeclaration.read(*row) for row in rows.fetchall()]


def no_reader(corpus_id: str, origin: str | None, otherwise: str = "") -> RegistryError:
    """Return the error of a corpus that can't be read or written here; ``origin`` is as its warehouse says."""
    package, folder = _PACKAGE.fullmatch(origin or ""), _FOLDER.fullmatch(origin or "")
    if package:
        found = f"it was read by the package {package[1]} {package[2]}, which is not installed"
        # The warehouse may be a stranger's, and name what a stranger has uploaded.
        step = f"if you know and trust that package, install it: pip install {package[1]}=={package[2]}"
    elif folder:
        found = f"it was read by the code in the folder {visible(folder[1])}"
        step = "name the folder with its code: --corpora DIR, or TALKHOUSE_CORPORA"
    else:
        found = "the warehouse does not say what it was read by"
        step = "install the package that has it, or name the folder with its code: --corpora DIR"
    return RegistryError(
        f"no code here reads or writes the corpus '{visible(corpus_id)}'",
        expected="a corpus of Talkhouse, of an installed package, or of a folder that is named",
        found=found,
        next_step=f"{step}; {otherwise}" if otherwise else step,
    )


_SOURCE_FILES = """
select source_file_id, path, member, kind, size, sha256
from {}meta.source_files where corpus_id = ? order by all
"""


@dataclass(frozen=True)
class StoredFile:
    """A file that was given, on disk or in an archive."""

    id: str
    path: str
    """Inside the corpus's folder; of an archive its own."""
    unpacked: str
    """The same with archives as folders."""
    is_member: bool
    """Whether it lies in an archive."""
    kind: str
    """``read``, ``archive``, or why it is neither."""
    size: int
    """Bytes."""
    sha256: str

    def is_at(self, path: str) -> bool:
        """Whether it stands there, or in a folder that the user has put around it."""
        return any(f"/{own}".endswith(f"/{path}") for own in (self.path, self.unpacked))

    def published_as(self, sources: Iterable[Source]) -> Source | None:
        """Return the publisher's file: that with its checksum, or at its path if no checksum is known."""
        declared = tuple(sources)
        same = [source for source in declared if source.sha256 == self.sha256]
        unknown = [source for source in declared if source.sha256 is None and self.is_at(source.path)]
        return next(iter([*same, *unknown]), None)


def source_files(con: duckdb.DuckDBPyConnection, corpus_id: str, database: str | None = None) -> list[StoredFile]:
    """List the files of a corpus, those in archives too, by id; ``database``: the warehouse's name in SQL."""
    of_database = f"{quoted(database)}." if database else ""
    return [_file(*row) for row in con.execute(_SOURCE_FILES.format(of_database), [corpus_id]).fetchall()]


def _file(file_id: str, path: str, member: str | None, kind: str, size: int, sha256: str) -> StoredFile:
    inside = path if member is None else f"{path}!{member}"
    return StoredFile(
        file_id, _within(inside), _within(str(unpacked(path, member))), member is not None, kind, size, sha256
    )


def _within(path: str) -> str:
    return path.partition("/")[2]
