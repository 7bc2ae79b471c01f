"""What a package is, whose it is, and under which licences: the properties of the data set itself."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from talkhouse.citation.formats import bibtex
from talkhouse.citation.work import Citation
from talkhouse.made import not_published
from talkhouse.packages.content import Package
from talkhouse.packages.croissant.licences import licences
from talkhouse.packages.descriptions import title
from talkhouse.packages.known_facts import CorpusFacts
from talkhouse.query.selection import Filters
from talkhouse.settings import version


def about(package: Package, facts: Sequence[CorpusFacts]) -> dict[str, Any]:
    """Return the properties; what nobody has declared is left out."""
    cited = [Citation.of(corpus) for corpus in package.corpora]
    years = [citation.year for citation in cited if citation.year]
    properties = {
        "name": title(package),
        "description": "\n".join(_description(package, facts)),
        "url": facts[0].homepage if len(facts) == 1 else None,
        "license": licences(package.parts, package.corpora),
        "creator": _creators(cited),
        "citeAs": bibtex(cited),
        "keywords": ["dialogue", "talkhouse", *(corpus.corpus_id for corpus in facts)],
        "inLanguage": list(dict.fromkeys(language for corpus in facts for language in corpus.languages)),
        "datePublished": str(max(years)) if years else None,
        "version": version(),
    }
    return {name: value for name, value in properties.items() if value}


def _description(package: Package, facts: Iterable[CorpusFacts]) -> Iterator[str]:
    notes = {corpus["corpus_id"]: not_published(corpus) for corpus in package.corpora}
    for corpus in facts:
        note = f" ({notes[corpus.corpus_id]})" if notes[corpus.corpus_id] else ""
        yield f"{corpus.title}{note}: {corpus.description}"
    wanted = "; ".join(_wanted(package.configs[0].selection.filters))
    if wanted:
        yield f"Not all rows are here, but only those of: {wanted}."


def _wanted(filters: Filters) -> Iterator[str]:
    if filters.split is not None:
        yield f"split {filters.split}"
    if filters.release is not None:
        yield f"release {filters.release}"
    if filters.subsets:
        yield f"subset {', '.join(filters.subsets)}"
    if filters.where is not None:
        yield f"where {filters.where}"


def _creators(cited: Iterable[Citation]) -> list[dict[str, Any]]:
    """Return the authors of all corpora, each once, in the order of their papers."""
    authors = dict.fromkeys(author for citation in cited for author in citation.authors)
    return [
        {"@type": "sc:Person", "name": f"{given} {family}", "givenName": given, "familyName": family}
        if given
        else {"@type": "sc:Organization", "name": family}
        for family, given in authors
    ]
