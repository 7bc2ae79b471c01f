"""The manifest of an export: what a file is and has, also inside Parquet and Arrow; what to cite, by it or a name."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from talkhouse.citation import formats
from talkhouse.citation.work import Citation, software
from talkhouse.export.composition import Composition, corpora_of
from talkhouse.export.pseudonyms import AboutPseudonyms
from talkhouse.export.selection import Selection, select
from talkhouse.export.terms import LicencePart, with_terms
from talkhouse.schema.errors import SourceError, UsageError, closest, error_text
from talkhouse.settings import version
from talkhouse.system.files import read_small, sha256_of
from talkhouse.warehouse.content_ids import known_ids
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.relations import relations
from talkhouse.warehouse.rows_hash import splits, task_hashes

ENDING = ".manifest.json"
"""What the name of a file's manifest has behind that of the file."""

OF_A_PACKAGE = "manifest.json"
"""The name of the manifest in a folder that is a package."""


@dataclass(frozen=True)
class ExportContents:
    """What is known of the rows of an export."""

    corpora: list[dict[str, Any]]
    """The corpora that they are of, as ``Warehouse.corpora`` has them."""
    parts: tuple[LicencePart, ...]
    """The parts of these that they are of, with what their licences ask; none of samples."""
    composition: Composition
    """Of which publisher's releases, splits, subsets and languages they are."""
    rows: int
    pseudonyms: AboutPseudonyms | None = None
    """The key of the pseudonyms, and what still leads to people; None if ids are as published."""
    formulas_escaped: bool = False
    """Whether texts that a spreadsheet takes for formulas have an apostrophe before them, unlike as published."""


def path_for(output: Path) -> Path:
    """Return the path of a file's manifest."""
    return output.with_name(f"{output.name}{ENDING}")


def _fingerprints(warehouse: Warehouse, selection: Selection) -> list[dict[str, Any]]:
    """Return the fingerprints of the splits of a task's view, or of its view of one split; none for other views."""
    view = warehouse.split_views.get(selection.full_name)
    task = view.task if view else selection.full_name
    if task not in {example.full_name for example in warehouse.catalogue.examples}:
        return []
    corpus_id, _, name = task.partition(".")
    hashes = {
        (hash_.release, hash_.split): hash_ for hash_ in task_hashes(warehouse.con, warehouse.database, tasks=[task])
    }
    return [
        {
            "release": split.release,
            "split": split.split,
            "view_fingerprint": split.fingerprint,
            "rows_hash": hashes[split.release, split.split].hash,
            "content_hash": hashes[split.release, split.split].content_hash,
        }
        for split in splits(warehouse.con, corpus_id, name)
        if (split.release, split.split) in hashes
        and (view is None or view.split == split.split)
        and (selection.split_column != "split" or selection.split == split.split)
        and selection.filters.release in (None, split.release)
    ]


def describe(warehouse: Warehouse, selection: Selection, contents: ExportContents, file_format: str, path: Path) -> str:
    """Return the description of a file as JSON; the same file of the same build has the same manifest."""
    content = {
        **of_selection(warehouse, selection),
        "format": file_format,
        "rows": contents.rows,
        "composition": contents.composition,
        "pseudonyms": contents.pseudonyms,
        "formulas_escaped": contents.formulas_escaped,
        "bytes": path.stat().st_size,
        "sha256": sha256_of(path),
        **of_build(warehouse),
        "corpora": with_terms(contents.corpora, contents.parts),
    }
    return as_json(content)


def of_selection(warehouse: Warehouse, selection: Selection) -> dict[str, Any]:
    """Return a manifest's entry on the selected rows: name, filters, order, columns, fingerprints."""
    return {
        "name": selection.full_name,
        "split": selection.split,
        "split_column": selection.split_column,
        "release": selection.filters.release,
        "subsets": selection.filters.subsets,
        "where": selection.filters.where,
        **({"overlap": selection.filters.left_out.about} if selection.filters.left_out else {}),
        "limit": selection.limit,
        "order": selection.order or [column["name"] for column in selection.columns],
        "columns": selection.columns,
        "view_fingerprints": _fingerprints(warehouse, selection),
    }


def of_build(warehouse: Warehouse) -> dict[str, Any]:
    """Return a manifest's entry on the build and this Talkhouse."""
    made_by = dict(warehouse.build)
    revision = made_by.pop("schema_revision")
    release, content_id = known_ids(warehouse.con, warehouse.database, warehouse.path)
    return {
        "schema_revision": revision,
        "talkhouse_version": version(),
        # A selection has a key "release" of its own, the publisher's.
        "talkhouse_release": release,
        "content_id": content_id,
        "build": made_by,
        **({"redacted": warehouse.redacted} if warehouse.redacted else {}),
    }


def as_json(content: Mapping[str, Any]) -> str:
    """Write a manifest."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def described(
    schema: Any, selection: Selection, sources: Sequence[Mapping[str, Any]], parts: Iterable[LicencePart]
) -> Any:
    """Return an Arrow schema that also says what ``file_keys`` has, and of each column what it means (description)."""
    meanings = {column["name"]: column["meaning"] for column in selection.columns if column["meaning"]}
    for index, field in enumerate(schema):
        if field.name in meanings:
            # Types that Arrow does not know have their names there.
            own = {**(field.metadata or {}), b"description": meanings[field.name].encode()}
            schema = schema.set(index, field.with_metadata(own))
    return schema.with_metadata({**(schema.metadata or {}), **file_keys(selection, sources, parts)})


def file_keys(
    selection: Selection, sources: Sequence[Mapping[str, Any]], parts: Iterable[LicencePart]
) -> dict[str, str]:
    """Return the keys of a file, each a text: name, licence, licence_terms (JSON), citation (BibTeX), columns (JSON).

    Nothing is of a build: a file of equal rows stays equal to the byte.
    """
    return {
        "name": selection.full_name,
        "licence": "\n".join(_licence(corpus) for corpus in sources),
        "licence_terms": json.dumps([part.described for part in parts], ensure_ascii=False),
        "citation": formats.bibtex([Citation.from_corpus(corpus) for corpus in sources]),
        "columns": json.dumps({column["name"]: column["meaning"] for column in selection.columns}, ensure_ascii=False),
    }


def _licence(corpus: Mapping[str, Any]) -> str:
    """Return the licence of a corpus as its publisher names it, its address, and what else there is to know."""
    address = f" ({corpus['licence_url']})" if corpus["licence_url"] else ""
    sample = " (invented sample)" if corpus["is_sample"] else ""
    terms = f" {corpus['terms']}" if corpus["terms"] else ""
    return f"{corpus['corpus_id']}{sample}: {corpus['licence']}{address}.{terms}"


_NAME = re.compile(r"\w+(\.\w+)*")
"""What may be the name of a corpus, a view or a table."""

_SHOWN_NAME = 200
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
        own = path if path.name.endswith(ENDING) or path.name == OF_A_PACKAGE else None
        described = own or (path / OF_A_PACKAGE if path.is_dir() else path_for(path))
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
        parts = error_text(error, Path(name), another="name what talkhouse export wrote, or a corpus or view")
        raise UsageError(problem, where=name[:_SHOWN_NAME], **parts) from error


@dataclass(frozen=True)
class Cited:
    """What there is to cite for a name."""

    corpora: list[Citation]
    talkhouse: Citation
    """Talkhouse itself, as it made the build."""


def of_export(described: Path) -> Cited:
    """Return the works to cite for an export, by its manifest; SourceError where that is damaged or another file."""
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
    """Return the works to cite for a corpus, or for the corpora of a view or table; UsageError for neither."""
    return Cited([Citation.from_corpus(corpus) for corpus in _corpora(warehouse, name)], software(warehouse.build))


def _corpora(warehouse: Warehouse, name: str) -> list[dict[str, Any]]:
    if name in warehouse.corpus_ids:
        return [corpus for corpus in warehouse.corpora if corpus["corpus_id"] == name]
    views = [f"{relation['schema']}.{relation['name']}" for relation in relations(warehouse.con)]
    if name not in views and f"main.{name}" not in views:
        near = closest(name, known := warehouse.corpus_ids + views)
        raise UsageError(
            f"no corpus, view or table '{name[:_SHOWN_NAME]}', and no export there",
            expected=f"one of: {', '.join(near if len(near) < len(known) else warehouse.corpus_ids)}",
            next_step="see the corpora with: talkhouse status, and the views with: talkhouse views",
        )
    return corpora_of(warehouse, select(warehouse, name))
