"""What corpora declare that a user should know of them before using them, and the questions that it answers."""

import json
from typing import Any

import duckdb

from talkhouse.schema.sql import quoted

QUESTIONS = {
    "motivation": "Why was it made?",
    "composition": "What is in it?",
    "collection": "How was it collected?",
    "labelling": "How was it labelled?",
    "uses": "What is it for?",
    "limits": "What can't it show?",
    "quirks": "What surprises in its files?",
    "sources": "Where is this from?",
}
"""What each part of a datasheet answers, in the order of a page."""

NOT_PUBLISHED = "not published"
"""What stands where nobody has said."""


def datasheets(con: duckdb.DuckDBPyConnection, database: str) -> dict[str, dict[str, Any]]:
    """Return the datasheets by corpus, those that are declared: texts, and of quirks and sources lists of texts."""
    rows = con.execute(f"select corpus_id, datasheet from {quoted(database)}.main.corpora where datasheet is not null")
    return {corpus_id: json.loads(datasheet) for corpus_id, datasheet in rows.fetchall()}
