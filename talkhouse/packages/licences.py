"""LICENSE.md of a package: what each corpus in it asks, part by part, and what that comes to together."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from talkhouse.citation import formats
from talkhouse.citation.work import Citation
from talkhouse.made import not_published
from talkhouse.packages.content import Package
from talkhouse.packages.markdown import link, plain
from talkhouse.query.terms import ASKED, Part


def licences(package: Package) -> str:
    """Return the text of LICENSE.md."""
    return "".join(f"{line}\n" for line in _lines(package))


def _lines(package: Package) -> Iterator[str]:
    yield f"# Licences of {plain(package.name)}"
    yield ""
    yield from _together(package)
    for corpus in package.corpora:
        parts = [part for part in package.parts if part.corpus_id == corpus["corpus_id"]]
        yield ""
        yield from _of_corpus(corpus, parts)


def _together(package: Package) -> Iterator[str]:
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
    """Say what parts ask, each once, and of what is share-alike the licences."""
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


def _of_corpus(corpus: Mapping[str, Any], parts: list[Part]) -> Iterator[str]:
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
    cited = Citation.of(corpus)
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
