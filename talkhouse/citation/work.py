"""What there is to cite: a corpus, as its declaration has it, and Talkhouse itself with the build of a warehouse."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import duckdb

from talkhouse.warehouse import build_facts

_BLANKS = re.compile("[\x00-\x20\x7f-\xa0\u2028\u2029]+")
"""What ends a line or acts on a terminal, and the blanks around it; the wide blank of Japanese is a character."""


@dataclass(frozen=True)
class Citation:
    """A corpus and how it is cited; what is not declared is None or empty, and nothing is parsed from ``text``."""

    corpus_id: str
    title: str
    """Of the corpus."""
    authors: tuple[tuple[str, str], ...]
    """Family name and given names of each; who has no given name is an organisation."""
    year: int | None
    reference: dict[str, Any] | None
    """The publication: kind, title, venue, doi, arxiv, url, in so far as they are declared."""
    text: str
    """The reference as a sentence."""
    homepage: str
    licence: str
    version: str = ""
    """Which release of Talkhouse it was read from; empty: of none."""

    @classmethod
    def from_corpus(cls, corpus: Mapping[str, Any]) -> "Citation":
        """Return the citation of a corpus as ``build_facts.corpora`` and manifests have it."""
        reference = {key: value for key, value in (corpus.get("reference") or {}).items() if value}
        authors = corpus.get("authors") or ()
        return cls(
            corpus_id=corpus["corpus_id"],
            title=_line(corpus["title"]),
            authors=tuple((_line(author["family"]), _line(author.get("given") or "")) for author in authors),
            year=corpus.get("year"),
            reference={key: _line(value) for key, value in reference.items()} or None,
            text=corpus.get("citation") or "",
            homepage=_line(corpus.get("homepage") or ""),
            licence=_line(corpus.get("licence") or ""),
        )

    @property
    def is_structured(self) -> bool:
        """Whether its authors and its publication are declared, so that ``text`` is not needed."""
        return bool(self.authors and self.reference)

    def of_reference(self, key: str) -> str:
        """Return the declared fields of the publication: kind, title, venue, doi, arxiv, url; empty if it is not."""
        return str((self.reference or {}).get(key) or "")

    @property
    def work_title(self) -> str:
        """The title of the publication; without one that of the corpus."""
        return self.of_reference("title") or self.title

    @property
    def sentence(self) -> str:
        """The reference as a sentence, on one line."""
        return _line(self.text)

    @property
    def note(self) -> str:
        """The text needed next to the declared publication: the sentence if there is none, or for software."""
        return "" if self.is_structured and self.of_reference("kind") != "software" else self.sentence

    @property
    def address(self) -> str:
        """Where the publication is; without one the home page of the corpus, or nothing."""
        doi, arxiv = self.of_reference("doi"), self.of_reference("arxiv")
        return (
            self.of_reference("url")
            or (f"https://doi.org/{doi}" if doi else "")
            or (f"https://arxiv.org/abs/{arxiv}" if arxiv else "")
            or self.homepage
        )


def citations(con: duckdb.DuckDBPyConnection, database: str, corpus_ids: Iterable[str]) -> list[Citation]:
    """Return the works to cite for these corpora, by corpus id; ``database``: the warehouse's name in SQL."""
    wanted = {*corpus_ids}
    return [
        Citation.from_corpus(corpus) for corpus in build_facts.corpora(con, database) if corpus["corpus_id"] in wanted
    ]


def _line(text: str) -> str:
    return _BLANKS.sub(" ", text).strip(" ")


TITLE = "Talkhouse: a SQL warehouse of dialogue corpora"
_AUTHOR = "The Talkhouse maintainers"


def software(build: Mapping[str, Any]) -> Citation:
    """Return the citation of the Talkhouse that made a build.

    ``build``: talkhouse_version, schema_revision, finished_at, catalogue_hash, and sources_hash in so far as they are
    known.
    """
    facts = {
        "Schema revision": str(build.get("schema_revision") or ""),
        "build of": str(build.get("finished_at") or "")[:10],
        "sources": str(build.get("sources_hash") or "")[:12],
        "views": str(build.get("catalogue_hash") or "")[:12],
    }
    known = ", ".join(f"{name} {fact}" for name, fact in facts.items() if fact)
    name, _, what = TITLE.partition(":")
    return Citation(
        corpus_id="talkhouse",
        title=TITLE,
        authors=((_AUTHOR, ""),),
        year=None,
        reference={"kind": "software", "title": TITLE},
        text=f"{name} {build['talkhouse_version']}:{what}. {known}.",
        homepage="",
        licence="Apache-2.0",
    )


def of_release(name: str, content_id: str, sha256: str, talkhouse_version: str) -> Citation:
    """Return the citation of a release, by which its state is found again; ``sha256``: of its manifest."""
    return Citation(
        corpus_id=f"talkhouse-{name}",
        title=f"Talkhouse release {name}",
        authors=((_AUTHOR, ""),),
        year=None,
        reference={"kind": "software", "title": f"Talkhouse release {name}"},
        text=f"Talkhouse release {name}, content id {content_id}, release.json sha256 {sha256}; "
        f"Talkhouse {talkhouse_version}.",
        homepage="",
        licence="",
        version=name,
    )
