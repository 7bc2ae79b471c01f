"""Tries formats on records that are given as values, or as JSON texts with one mutation."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.model import Declaration, Format
from talkhouse.ingest.declared.documents.parsed_record import DocumentFormat, ParsedDialogue
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.stored_record import StoredRecord
from tests.declared import talks
from tests.declared.json_texts import with_others


def declared(of: Format, **parts: Any) -> Declaration:
    """Declare a corpus of a format; ``parts`` are fields of the declaration."""
    return dataclasses.replace(Declaration("teas", "", "teas/corpus.toml", "Teas", of, ()), **parts)


def read(of: DocumentFormat, record: object) -> ParsedDialogue:
    """Read a record."""
    return talks.read(of, json.dumps(record))


def stored(of: DocumentFormat, record: object) -> StoredRecord:
    """Return the rows of a record, which has to come back from them."""
    text = json.dumps(record)
    rows, back = talks.rows_and_text(of, declared("pairs"), text)
    assert talks.same(back, text), back
    return rows


def comes_back(of: DocumentFormat, text: str) -> bool:
    """Tell whether a record is equal when it is written again."""
    return talks.same(talks.written(of, declared("pairs"), text), text)


def is_named_or_comes_back(of: DocumentFormat, text: str) -> bool:
    """Tell whether a record is refused by a rule of the formats, or equal when it is written again."""
    try:
        return comes_back(of, text)
    except BadRecord as problem:
        return problem.rule in {"GF-01", "GF-10"}


_ODD = ("null", "1", "true", '""', "[]", "{}", "[[]]", '[["a"]]', '[["a", "b"]]', "[{}]", "[null]", '{"a": "b"}')


def with_mutation(members: Mapping[str, st.SearchStrategy[str]]) -> st.SearchStrategy[str]:
    """Write objects that have these members, but one of them otherwise or not at all."""

    def mutate(name: str) -> st.SearchStrategy[str]:
        others = {other: texts for other, texts in members.items() if other != name}
        return with_others(others, {name: st.sampled_from(_ODD)})

    return st.sampled_from(list(members)).flatmap(mutate)
