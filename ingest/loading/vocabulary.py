"""What a corpus and its data declare, put into its tables: its own row, its schemes and their labels."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import date
from itertools import count
from typing import Any

import duckdb
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from talkhouse.ingest.corpus import Corpus, Datasheet, LicenceTerms, Reference
from talkhouse.ingest.rows import Label
from talkhouse.schema.sql import insert
from talkhouse.schema.sql_files import sql_of

_PUBLIC_DOMAIN = frozenset({"0BSD", "CC-PDDC", "CC0-1.0", "MIT-0", "PDDL-1.0", "Unlicense", "WTFPL"})
_SHARE_ALIKE = re.compile(r"CC-BY(-NC)?-SA-|A?GPL-|LGPL-|ODbL-|CDLA-Sharing-|GFDL-|MPL-|EUPL-|OSL-")
_NON_COMMERCIAL = re.compile(r"CC-BY-NC|PolyForm-Noncommercial")
_NO_DERIVATIVES = re.compile(r"CC-BY(-NC)?-ND-")
_OF_ITS_OWN = "LicenseRef-"
"""How a licence begins that SPDX does not know."""


def terms_of(licence: str) -> tuple[LicenceTerms, ...]:
    """Return the terms of a licence; empty if it is no expression of SPDX identifiers.

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
    own = {
        **_own(corpus),
        "corpus_id": corpus.id,
        "reader_version": corpus.version,
        "is_sample": is_sample,
        "declaration": corpus.declaration,
        "origin": origin,
        "made_from": made_from,
    }
    con.execute(f"insert into main.corpora by name select {', '.join(f'${name} as {name}' for name in own)}", own)
    insert(con, "main.releases", _releases(corpus))
    insert(con, "main.corpus_terms", () if is_sample else _terms(corpus))
    insert(con, "main.schemes", _schemes(corpus))
    insert(con, "main.labels", vocabulary.rows())


def is_declared(con: duckdb.DuckDBPyConnection, corpus: Corpus) -> bool:
    """Whether a warehouse has what a corpus declares of itself, as it is declared now."""
    own = _own(corpus)
    ((is_sample, *found),) = con.execute(
        f"select is_sample, {', '.join(own)} from main.corpora where corpus_id = ?", [corpus.id]
    ).fetchall()
    labels, of_scheme = Vocabulary(corpus).rows(), "starts_with(scheme, $id || '.')"

    def rows(table: str, condition: str) -> set[tuple[object, ...]]:
        return {*con.execute(f"select * from main.{table} where {condition}", {"id": corpus.id}).fetchall()}

    return (
        found == [*own.values()]
        and rows("corpus_terms", "corpus_id = $id") == (set() if is_sample else {*_terms(corpus)})
        # Of the others there may be more: data and older readers declare some too.
        and rows("releases", f"corpus_id = $id and release_index < {len(corpus.releases)}") >= {*_releases(corpus)}
        and rows("schemes", of_scheme) >= {*_schemes(corpus)}
        and rows("labels", f"{of_scheme} and label_index < {len(labels)}") >= {*labels}
    )


def declare_again(con: duckdb.DuckDBPyConnection, corpus: Corpus) -> None:
    """Write what a corpus declares of itself over what was declared when it was read; its rows stay as they are.

    What its data declare, and what an older reader declared that is not declared now, comes behind.
    """
    own, id_ = _own(corpus), {"id": corpus.id}
    values = ", ".join(f"{name} = ${name}" for name in own)
    con.execute(f"update main.corpora set {values} where corpus_id = $id", {**own, **id_})
    ((is_sample,),) = con.execute("select is_sample from main.corpora where corpus_id = $id", id_).fetchall()
    con.execute("delete from main.corpus_terms where corpus_id = $id", id_)
    insert(con, "main.corpus_terms", () if is_sample else _terms(corpus))
    declared = {
        "main.releases": _releases(corpus),
        "main.schemes": _schemes(corpus),
        "main.labels": Vocabulary(corpus).rows(),
    }
    for table, rows in declared.items():
        con.execute(f"create or replace temp table declared as from {table} limit 0")
        insert(con, "temp.declared", rows)
        for statement in _BEHIND[table]:
            con.execute(statement, id_ if "$id" in statement else None)
    con.execute("drop table temp.declared")


_BEHIND = {
    "main.releases": (
        sql_of(__file__, "declared_releases"),
        "delete from main.releases where corpus_id = $id",
        "insert into main.releases from declared",
    ),
    "main.schemes": (
        "delete from main.schemes where scheme in (select scheme from declared)",
        "insert into main.schemes from declared",
    ),
    "main.labels": (
        sql_of(__file__, "declared_labels"),
        "delete from main.labels where starts_with(scheme, $id || '.')",
        "insert into main.labels from declared",
    ),
}
"""Table -> the statements that put what is declared, which ``temp.declared`` has, before what else it holds."""


def _own(corpus: Corpus) -> dict[str, object]:
    """Return the columns of the corpus's row that say nothing of how it was read."""
    return {
        "title": corpus.title,
        "description": corpus.description,
        "homepage": corpus.homepage,
        "licence": corpus.licence,
        "licence_url": corpus.licence_url,
        "terms": corpus.terms,
        "citation": corpus.citation,
        "languages": " ".join(corpus.languages),
        "authors": _json([asdict(author) for author in corpus.authors]),
        "year": corpus.year,
        "reference": _json(_stated(corpus.reference)),
        "datasheet": _json(_stated(corpus.datasheet)),
    }


def _schemes(corpus: Corpus) -> list[tuple[object, ...]]:
    return [(scheme.name, scheme.description, scheme.target, scheme.kind, scheme.scale) for scheme in corpus.schemes]


def _releases(corpus: Corpus) -> list[tuple[object, ...]]:
    return [
        (corpus.id, release.name, index, release.title, release.description)
        for index, release in enumerate(corpus.releases)
    ]


def _terms(corpus: Corpus) -> Iterator[tuple[object, ...]]:
    """Return the rows of ``main.corpus_terms``: those that are declared, or what the licence's identifier says."""
    for terms in corpus.licence_terms or terms_of(corpus.licence):
        days = (day and date.fromisoformat(day) for day in (terms.said_from, terms.said_before))
        yield (
            corpus.id,
            terms.part,
            _json(terms.columns),
            *days,
            terms.spdx,
            terms.licence_url or corpus.licence_url,
            terms.is_attribution,
            terms.is_share_alike,
            terms.is_non_commercial,
            terms.is_unknown,
            terms.note,
        )


def _stated(declared: Reference | Datasheet | None) -> dict[str, Any]:
    """Return the content of a part of the declaration without empty values."""
    return {} if declared is None else {name: value for name, value in asdict(declared).items() if value}


def _json(value: Any) -> str | None:
    """Return a list or an object as JSON, or None if it is empty."""
    return json.dumps(value, ensure_ascii=False) if value else None


def complete_vocabulary(con: duckdb.DuckDBPyConnection, corpus: Corpus) -> None:
    """Add the labels and publisher's releases that occur and that no declaration knows, behind those declared."""
    con.execute(sql_of(__file__, "undeclared_labels"), [f"{corpus.id}/"])
    con.execute(sql_of(__file__, "undeclared_releases"), {"corpus": corpus.id})
