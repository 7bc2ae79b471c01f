"""Writes a package: a folder that a program opens, whole or not at all, with the files that describe it.

These are LICENSE.md, CITATION.cff, citation.bib and manifest.json.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from talkhouse.citation import formats
from talkhouse.citation.work import Citation
from talkhouse.escaping import address, markdown, visible
from talkhouse.export import manifest, sandbox
from talkhouse.export.export import MEMORY
from talkhouse.export.formats import Tool
from talkhouse.export.personal_data import check_texts
from talkhouse.export.pseudonyms import are_keys_public, pseudonyms
from talkhouse.export.row_stream import OnRows
from talkhouse.export.selection import NO_FILTERS, Filters
from talkhouse.export.terms import ASKED, LicencePart, check_terms, with_terms
from talkhouse.export.writers import markdown_head, markdown_line
from talkhouse.ingest.registry import all_corpora
from talkhouse.notes.notes_file import NoteNow
from talkhouse.packages.content import ExportPackage, PackageLayout
from talkhouse.personal import PersonalData
from talkhouse.provenance import not_published
from talkhouse.schema.errors import RegistryError
from talkhouse.settings import corpus_folders
from talkhouse.system.atomic_output import atomic_folder, private_folder_at, private_folder_path
from talkhouse.system.memory import in_little_memory
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.readers import source_files

if TYPE_CHECKING:
    from talkhouse.packages.chat import ChatOptions


@dataclass(frozen=True)
class WrittenPackage:
    """A package that was written."""

    package: ExportPackage
    path: Path
    files: tuple[dict[str, Any], ...]
    """The files of data, as the manifest has them."""
    bytes: int
    """Of all files."""


def export_package(
    warehouse: Warehouse,
    name: str,
    tool: Tool,
    output: Path,
    *,
    filters: Filters = NO_FILTERS,
    is_accepted: bool = False,
    personal: PersonalData = PersonalData.ASK,
    key_file: Path | None = None,
    notes: Sequence[NoteNow] | None = None,
    chats: "ChatOptions | None" = None,
    on_rows: OnRows = lambda _: None,
) -> WrittenPackage:
    """Write a corpus, or a view or table, as a folder for a program.

    ``is_accepted``: the user accepts the terms of the corpora; ``personal``: what becomes of personal data in texts of
    corpora of one's own; ``key_file``: the key of pseudonyms in place of ids of
    people; ``notes`` of the user's go along where they fit; ``chats``: what chats look like. DuckDB sorts next to the
    folder if the warehouse was opened with ``talkhouse.export.export.settings``.

    Raises UsageError for names, filters and folders that can't be, TermsNotAccepted, PersonalDataFound, OutputFailed
    where there is no room, QueryFailed where a view fails.
    """
    # Only the module of the wanted program is imported.
    module = import_module(f"talkhouse.packages.{tool}")
    layout: PackageLayout = module.LAYOUT if chats is None else module.layout(chats)

    def write(folder: Path) -> tuple[ExportPackage, list[dict[str, Any]]]:
        names = pseudonyms(warehouse, key_file, output) if key_file else None
        package = layout.plan(warehouse, name, filters, names)
        if notes is not None and layout.with_notes is not None:
            package = layout.with_notes(package, notes)
        selections = [config.selection for config in package.configs]
        check_terms(package.parts, is_accepted=is_accepted, selection=selections[0] if len(selections) == 1 else None)
        check_texts(warehouse, personal, [corpus["corpus_id"] for corpus in package.corpora])
        return package, layout.write(package, folder, on_rows)

    # The second folder is the one that ``settings`` names.
    with atomic_folder(output) as folder, private_folder_at(private_folder_path(output), output):
        try:
            package, files = in_little_memory(warehouse.con, MEMORY, lambda: write(folder))
            write_descriptions(package, folder)
            write_manifest(package, folder, files)
        except duckdb.Error as error:
            raise sandbox.failure(error) from error
        warehouse.check_complete()
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return WrittenPackage(package, output, tuple(files), size)


LICENCES, CITATION, BIBLIOGRAPHY = "LICENSE.md", "CITATION.cff", "citation.bib"


def write_descriptions(package: ExportPackage, folder: Path) -> None:
    """Write LICENSE.md, CITATION.cff and citation.bib of the corpora of a package into its folder."""
    cited = [Citation.from_corpus(corpus) for corpus in package.corpora]
    _write(folder / LICENCES, licences(package))
    _write(folder / CITATION, formats.cff(title(package), cited))
    _write(folder / BIBLIOGRAPHY, formats.bibtex(cited))


def title(package: ExportPackage) -> str:
    """Return the title of what is in a package: that of the corpus, or the view and its corpora."""
    titles = ", ".join(corpus["title"] for corpus in package.corpora)
    is_corpus = [corpus["corpus_id"] for corpus in package.corpora] == [package.name]
    return titles if is_corpus or not titles else f"{package.name} of {titles}"


def write_manifest(package: ExportPackage, folder: Path, files: Iterable[Mapping[str, Any]]) -> None:
    """Write manifest.json: the build, the corpora with their terms, the filters, and each file with its checksum.

    ``files``: an object for each file of data: path, rows, bytes, sha256, and what else is known of it. Nothing is of
    today: two packages of one warehouse are equal to the byte.
    """
    content = {
        "name": package.name,
        "configs": [
            {"config": config.name, "rows": config.rows, **manifest.of_selection(package.warehouse, config.selection)}
            for config in package.configs
        ],
        "files": [dict(file) for file in files],
        "pseudonyms": package.about_pseudonyms,
        **manifest.of_build(package.warehouse),
        "corpora": with_terms(package.corpora, package.parts),
    }
    _write(folder / manifest.OF_A_PACKAGE, manifest.as_json(content))


def provenance(package: ExportPackage) -> dict[str, Any]:
    """Return the build and the published files that the rows came from: source file ids, sizes, SHA-256, addresses.

    ``files``: those on disk, by corpus and id, each with corpus_id, source_file_id, bytes, sha256, and url: where the
    publisher offers it, or None if no declared file has its checksum, or its path and no known checksum. With
    pseudonyms, a file that no publisher offers is left out where keys lead to people: its name may be one of them.
    """
    return {
        **manifest.of_build(package.warehouse),
        "files": [file for corpus in package.corpora for file in _files(package, corpus)],
    }


def _files(package: ExportPackage, corpus: Mapping[str, Any]) -> list[dict[str, Any]]:
    warehouse, corpus_id = package.warehouse, corpus["corpus_id"]
    # An invented file, or one that was made, stands where a published one would.
    sources = () if corpus["is_sample"] or corpus["made_from"] else _declared(corpus_id)
    only_offered = package.pseudonyms is not None and are_keys_public(corpus_id)
    described = [
        {
            "corpus_id": corpus_id,
            "source_file_id": file.id,
            "bytes": file.size,
            "sha256": file.sha256,
            "url": source.url if (source := file.published_as(sources)) else None,
        }
        for file in source_files(warehouse.con, corpus_id, warehouse.database)
        if not file.is_member and file.kind in ("read", "archive")
    ]
    return [file for file in described if file["url"] or not only_offered]


def _declared(corpus_id: str) -> tuple[Any, ...]:
    """Return the files that the declaration of a corpus names; none if it is not installed here."""
    try:
        return all_corpora(corpus_folders())[corpus_id].sources
    except (KeyError, RegistryError):
        return ()


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def licences(package: ExportPackage) -> str:
    """Return the text of LICENSE.md."""
    return "".join(f"{line}\n" for line in _lines(package))


def _lines(package: ExportPackage) -> Iterator[str]:
    yield f"# Licences of {plain(package.name)}"
    yield ""
    yield from _together(package)
    for corpus in package.corpora:
        parts = [part for part in package.parts if part.corpus_id == corpus["corpus_id"]]
        yield ""
        yield from licence_of_corpus(corpus, parts)


def _together(package: ExportPackage) -> Iterator[str]:
    if package.parts:
        yield "What the terms of all that is in this folder come to:"
        yield ""
        yield from _asked(package.parts)
        yield ""
    elif all(corpus["is_sample"] for corpus in package.corpora):
        yield "Everything in this folder is invented, and comes with Talkhouse: the licences below ask nothing of it."
        yield ""
    else:
        yield "Of what is in this folder, no terms are known beyond the licences below."
        yield ""
    about = package.about_pseudonyms
    yield about["remark"] if about else "Texts are as they were published, and so are the names in them."


def _asked(parts: Iterable[LicencePart]) -> Iterator[str]:
    """Return the conditions of parts, each once, and the licences of share-alike ones."""
    asking = list(parts)
    for flag, asked in ASKED.items():
        of_these = [part for part in asking if flag in part.flags]
        named = sorted({part.spdx for part in of_these if part.spdx}) if flag == "share_alike" else []
        if of_these:
            yield f"- {asked[:1].upper()}{asked[1:]}{': ' if named else ''}{plain(', '.join(named))}."
        if len(named) > 1:
            yield "- Of several versions of a licence, the latest applies to what you make of all of it."
    if not any(part.flags for part in asking):
        yield "- Nothing is asked."


def licence_of_corpus(corpus: Mapping[str, Any], parts: list[LicencePart]) -> Iterator[str]:
    """Yield the lines of a corpus: its licence, what the terms of its parts ask, and how it is attributed."""
    yield f"## {plain(corpus['title'])} ({plain(corpus['corpus_id'])})"
    yield ""
    if note := not_published(corpus):
        yield f"This is an {note}, not the corpus." if corpus["is_sample"] else f"These are {note}."
        yield ""
    yield f"Licence, as its publisher names it: {plain(corpus['licence'])}{_address(corpus['licence_url'])}"
    if corpus["terms"]:
        yield ""
        yield plain(corpus["terms"])
    for part in parts:
        yield ""
        yield f"### Part: {plain(part.part)}"
        yield ""
        yield f"- Licence: {plain(part.spdx or 'none')}{_address(part.licence_url)}"
        yield from _asked([part])
        if part.note:
            yield f"- Note: {plain(part.note)}"
    yield ""
    yield "Attribution:"
    yield ""
    cited = Citation.from_corpus(corpus)
    yield _quoted(f"{cited.title}. {formats.text([cited]).strip()}")
    if corpus["homepage"]:
        yield ">"
        yield f"> Home page: {link(corpus['homepage'])}"
    yield ""
    yield "As its authors ask to be cited:"
    yield ""
    yield _quoted(cited.sentence)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in plain(text).splitlines())


def _address(url: str | None) -> str:
    return f" ({link(url)})" if url else ""


_TICKS = re.compile("`+")
_OF_THE_WEB = re.compile("https?://", re.IGNORECASE)


def table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of a table, and an empty one behind it; a cell that is None is empty."""
    cells = [["" if value is None else str(value) for value in row] for row in rows]
    return [*"".join([markdown_head(titles), *map(markdown_line, cells)]).split("\n"), ""][:-1]


def plain(text: str) -> str:
    """Return a text as Markdown that shows it."""
    return markdown(text, lines=True)


def code(text: str) -> str:
    """Return a text as code in a line."""
    ticks = ticks_around(text, 1)
    blank = " " if len(ticks) > 1 else ""
    return f"{ticks}{blank}{visible(text)}{blank}{ticks}"


def ticks_around(text: str, least: int) -> str:
    """Return the backticks between which a text is code, so many at the least: more than any in it."""
    return "`" * max(least, *(len(ticks) + 1 for ticks in _TICKS.findall(text)), 0)


def link(url: str) -> str:
    """Return an address as a link; what is none of the web, as a text."""
    return f"<{address(url)}>" if _OF_THE_WEB.match(url) else plain(url)
