"""What a corpus and its data declare, put into its tables: its own row, its schemes and their labels."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import count
from typing import Any

import duckdb
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from talkhouse.ingest.corpus import Corpus, Datasheet, LicenceTerms, Reference
from talkhouse.ingest.rows import Label
from talkhouse.schema.sql import insert

_PUBLIC_DOMAIN = frozenset({"0BSD", "CC-PDDC", "CC0-1.0", "MIT-0", "PDDL-1.0", "Unlicense", "WTFPL"})
_SHARE_ALIKE = re.compile(r"CC-BY(-NC)?-SA-|A?GPL-|LGPL-|ODbL-|CDLA-Sharing-|GFDL-|MPL-|EUPL-|OSL-")
_NON_COMMERCIAL = re.compile(r"CC-BY-NC|PolyForm-Noncommercial")
_NO_DERIVATIVES = re.compile(r"CC-BY(-NC)?-ND-")
_OF_ITS_OWN = "LicenseRef-"
"""How a licence begins that SPDX does not know."""


def terms_of(licence: str) -> tuple[LicenceTerms, ...]:
    """Return what a licence asks; nothing where it is no expression of SPDX identifiers.

    Of an expression, all that one of its licences asks: also where ``OR`` leaves the choice to the user.
    """
    try:
        expression = str(canonicalize_license_expression(licence))
    except InvalidLicenseExpression:
        return ()
    names = [name for name in re.split(r"[\s()]+", expression) if name not in ("", "AND", "OR", "WITH")]
    return (
        LicenceTerms(
            spdx=expression,
            licence_url=_address(expression) if names == [expression] else None,
            is_attribution=any(name not in _PUBLIC_DOMAIN for name in names),
            is_share_alike=any(_SHARE_ALIKE.match(name) for name in names),
            is_non_commercial=any(_NON_COMMERCIAL.match(name) for name in names),
            is_unknown=any(name.startswith(_OF_ITS_OWN) for name in names),
            note="Nothing made of it may be passed on." if any(map(_NO_DERIVATIVES.match, names)) else "",
        ),
    )


def _address(name: str) -> str | None:
    return None if name.startswith(_OF_ITS_OWN) else f"https://spdx.org/licenses/{name.removesuffix('+')}.html"


class Vocabulary:
    """The labels of a corpus's schemes: those that it declares, and those that its data declare as they are read."""

    def __init__(self, corpus: Corpus) -> None:
        self._labels = {
            (scheme.name, label): Label(scheme.name, label, meaning)
            for scheme in corpus.schemes
            for label, meaning in scheme.labels.items()
        }

    def add(self, labels: Iterable[Label]) -> Iterator[str]:
        """Add the labels that a record declares; yield which have another meaning than before, which they keep."""
        for row in labels:
            known = self._labels.setdefault((row.scheme, row.label), row)
            if known.meaning != row.meaning:
                yield f"{row.label!r} of {row.scheme} means {row.meaning!r:.200}; before: {known.meaning!r:.200}"

    @property
    def labels(self) -> list[Label]:
        """All of them, in order."""
        return [*self._labels.values()]

    def rows(self) -> list[tuple[object, ...]]:
        """Return the rows of ``main.labels``."""
        next_index: defaultdict[str, Iterator[int]] = defaultdict(count)
        return [
            (row.scheme, row.label, row.meaning, row.namespace, next(next_index[row.scheme]))
            for row in self._labels.values()
        ]


def declare(
    con: duckdb.DuckDBPyConnection,
    corpus: Corpus,
    vocabulary: Vocabulary,
    *,
    origin: str,
    is_sample: bool,
    made_from: str | None,
) -> None:
    """Insert the corpus's own row and its vocabulary."""
    own = (
        corpus.id,
        corpus.title,
        corpus.description,
        corpus.homepage,
        corpus.licence,
        corpus.licence_url,
        corpus.terms,
        corpus.citation,
        " ".join(corpus.languages),
        corpus.version,
        is_sample,
        corpus.declaration,
        origin,
        made_from,
        _json([asdict(author) for author in corpus.authors]),
        corpus.year,
        _json(_said(corpus.reference)),
        _json(_said(corpus.datasheet)),
    )
    schemes = [(one.name, one.description, one.target, one.kind, one.scale) for one in corpus.schemes]
    releases = [(corpus.id, one.name, index, one.title, one.description) for index, one in enumerate(corpus.releases)]
    insert(con, "main.corpora", [own])
    insert(con, "main.releases", releases)
    if not is_sample:
        insert(con, "main.corpus_terms", _terms(corpus))
    insert(con, "main.schemes", schemes)
    insert(con, "main.labels", vocabulary.rows())


def _terms(corpus: Corpus) -> Iterator[tuple[object, ...]]:
    """Return the rows of ``main.corpus_terms``: those that are declared, or what the licence's identifier says."""
    for terms in corpus.licence_terms or terms_of(corpus.licence):
        yield (
            corpus.id,
            terms.part,
            _json(terms.columns),
            terms.said_from,
            terms.said_before,
            terms.spdx,
            terms.licence_url or corpus.licence_url,
            terms.is_attribution,
            terms.is_share_alike,
            terms.is_non_commercial,
            terms.is_unknown,
            terms.note,
        )


def _said(declared: Reference | Datasheet | None) -> dict[str, Any]:
    """Return what a part of the declaration says; what is empty is left out."""
    return {} if declared is None else {name: value for name, value in asdict(declared).items() if value}


def _json(value: Any) -> str | None:
    """Return a list or an object as JSON; None where it is empty."""
    return json.dumps(value, ensure_ascii=False) if value else None


def complete_vocabulary(con: duckdb.DuckDBPyConnection, corpus: Corpus) -> None:
    """Add the labels and publisher's releases that occur and that no declaration knows, behind those declared."""
    con.execute(
        "insert into main.labels by name "
        "select distinct scheme, label from main.annotations "
        "anti join main.labels using (scheme, label) "
        "where label is not null and starts_with(record_id, ?)",
        [f"{corpus.id}/"],
    )
    con.execute(
        """
        insert into main.releases by name
        select
            corpus_id,
            release,
            row_number() over (order by release) - 1
                + (select count(*) from main.releases where corpus_id = $corpus) as release_index,
        from (select distinct corpus_id, release from main.records where corpus_id = $corpus and release is not null)
        anti join main.releases using (corpus_id, release)
        """,
        {"corpus": corpus.id},
    )
