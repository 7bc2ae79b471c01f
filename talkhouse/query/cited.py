"""What to cite for a name that a user typed: a corpus, a view or a table of a warehouse, or what was exported of one.

An export is cited by its manifest alone, wherever it was taken.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from talkhouse.citation.work import Citation, software
from talkhouse.query import manifest
from talkhouse.query.composition import corpora_of
from talkhouse.query.selection import select
from talkhouse.schema import refusals
from talkhouse.schema.closest import closest
from talkhouse.schema.errors import SourceError, UsageError
from talkhouse.system.files import read_small
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.relations import relations

_NAME = re.compile(r"\w+(\.\w+)*")
"""What may be the name of a corpus, a view or a table."""

_SHOWN = 200
"""Characters of a name that a message has: there are longer ones than any file may have."""

_NEXT = "cite the corpus, view or table that it was exported from"


class _Author(msgspec.Struct):
    family: str
    given: str | None = None


class _Corpus(msgspec.Struct):
    """A corpus as a manifest has it; those of older versions have the citation as a sentence only."""

    corpus_id: Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9_]*\Z")]
    title: str
    citation: str = ""
    homepage: str = ""
    licence: str = ""
    authors: list[_Author] | None = None
    year: Annotated[int, Meta(ge=0, le=9999)] | None = None
    reference: dict[str, str | None] | None = None


class _Build(msgspec.Struct):
    talkhouse_version: str
    finished_at: str | None = None
    catalogue_hash: str | None = None


class _Manifest(msgspec.Struct):
    corpora: list[_Corpus]
    build: _Build
    schema_revision: str | None = None


def manifest_of(name: str) -> Path | None:
    """Return the manifest of an export that a name stands for: a file, its manifest, or the folder of a package.

    None: it is no path. Raises UsageError for a file or folder without a manifest, and for one that is not there.
    """
    path = Path(name)
    with _no_such_file(name):
        own = path if path.name.endswith(manifest.ENDING) or path.name == manifest.OF_A_PACKAGE else None
        described = own or (path / manifest.OF_A_PACKAGE if path.is_dir() else manifest.path_for(path))
        if described.is_file():
            return described
        if _NAME.fullmatch(name) and not path.is_file():
            return None
        path.stat()
    problem = "there is no manifest of an export"
    raise UsageError(problem, where=path, expected=f"a file {described}", next_step=_NEXT)


@contextmanager
def _no_such_file(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        problem = "it can't be read" if isinstance(error, PermissionError) else "there is no such file or folder"
        said = refusals.error_text(error, Path(name), another="name what talkhouse export wrote, or a corpus or view")
        raise UsageError(problem, where=name[:_SHOWN], **said) from error


@dataclass(frozen=True)
class Cited:
    """What there is to cite for a name."""

    corpora: list[Citation]
    talkhouse: Citation
    """Talkhouse itself, as it made the build."""


def of_export(described: Path) -> Cited:
    """Return what to cite for an export, by its manifest; SourceError where that is damaged or another file."""
    try:
        content = msgspec.json.decode(read_small(described), type=_Manifest)
    except OSError as error:
        problem = "the manifest can't be read"
        raise SourceError(problem, where=described, found=error.strerror, next_step=_NEXT) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SourceError(
            "this is not a manifest that talkhouse export wrote, or it is damaged",
            where=described,
            found=str(error),
            next_step=_NEXT,
        ) from error
    corpora = [Citation.from_corpus(msgspec.to_builtins(corpus)) for corpus in content.corpora]
    build = {**msgspec.to_builtins(content.build), "schema_revision": content.schema_revision}
    return Cited(corpora, software(build))


def of_name(warehouse: Warehouse, name: str) -> Cited:
    """Return what to cite for a corpus, or for the corpora whose rows a view or table has; UsageError for neither."""
    return Cited([Citation.from_corpus(corpus) for corpus in _corpora(warehouse, name)], software(warehouse.build))


def _corpora(warehouse: Warehouse, name: str) -> list[dict[str, Any]]:
    if name in warehouse.corpus_ids:
        return [corpus for corpus in warehouse.corpora if corpus["corpus_id"] == name]
    views = [f"{relation['schema']}.{relation['name']}" for relation in relations(warehouse.con)]
    if name not in views and f"main.{name}" not in views:
        near = closest(name, known := warehouse.corpus_ids + views)
        raise UsageError(
            f"no corpus, view or table '{name[:_SHOWN]}', and no export there",
            expected=f"one of: {', '.join(near if len(near) < len(known) else warehouse.corpus_ids)}",
            next_step="see the corpora with: talkhouse status, and the views with: talkhouse views",
        )
    return corpora_of(warehouse, select(warehouse, name))
