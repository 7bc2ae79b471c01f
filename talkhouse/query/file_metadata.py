"""What a Parquet or Arrow file says of itself, should its manifest be lost: licences, citations, what columns mean."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from talkhouse.citation import formats
from talkhouse.citation.work import Citation
from talkhouse.query.selection import Selection
from talkhouse.query.terms import Part


def described(schema: Any, selection: Selection, sources: Sequence[Mapping[str, Any]], parts: Iterable[Part]) -> Any:
    """Return an Arrow schema that also says what ``file_keys`` has, and of each column what it means (description)."""
    meanings = {column["name"]: column["meaning"] for column in selection.columns if column["meaning"]}
    for index, field in enumerate(schema):
        if field.name in meanings:
            # Types that Arrow does not know have their names there.
            own = {**(field.metadata or {}), b"description": meanings[field.name].encode()}
            schema = schema.set(index, field.with_metadata(own))
    return schema.with_metadata({**(schema.metadata or {}), **file_keys(selection, sources, parts)})


def file_keys(selection: Selection, sources: Sequence[Mapping[str, Any]], parts: Iterable[Part]) -> dict[str, str]:
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
