"""The files that describe a package: LICENSE.md, CITATION.cff, citation.bib and manifest.json."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from talkhouse.citation import formats
from talkhouse.citation.work import Citation
from talkhouse.ingest.registry import all_corpora
from talkhouse.made import not_published
from talkhouse.packages.content import ExportPackage
from talkhouse.packages.markdown import link, plain
from talkhouse.query import manifest
from talkhouse.query.pseudonyms import are_keys_public
from talkhouse.query.terms import ASKED, Part, with_terms
from talkhouse.schema.errors import RegistryError
from talkhouse.settings import corpus_folders
from talkhouse.warehouse.source_files import source_files

LICENCES, CITATION, BIBLIOGRAPHY = "LICENSE.md", "CITATION.cff", "citation.bib"


def write_descriptions(package: ExportPackage, folder: Path) -> None:
    """Write LICENSE.md, CITATION.cff and citation.bib of the corpora of a package into its folder."""
    cited = [Citation.from_corpus(corpus) for corpus in package.corpora]
    _write(folder / LICENCES, licences(package))
    _write(folder / CITATION, formats.cff(title(package), cited))
    _write(folder / BIBLIOGRAPHY, formats.bibtex(cited))


def title(package: ExportPackage) -> str:
    """Return the title of what is in a package: that of the corpus, or which view it is and of which corpora."""
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
    publisher offers it, or None where no declared file has its checksum, or its path and no known checksum. With
    pseudonyms, a file that nobody offers is left out where keys lead to people: its name may be one of them.
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
    """Return the files that the declaration of a corpus names; none where nobody here has it."""
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
    said = package.about_pseudonyms
    yield said["remark"] if said else "Texts are as they were published, and so are the names in them."


def _asked(parts: Iterable[Part]) -> Iterator[str]:
    """Return what parts ask, each once, and of what is share-alike the licences."""
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


def licence_of_corpus(corpus: Mapping[str, Any], parts: list[Part]) -> Iterator[str]:
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
