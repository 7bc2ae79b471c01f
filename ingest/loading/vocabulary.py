"""What a corpus declares, put into its tables: its own row, its schemes and their labels."""

import duckdb

from talkhouse.ingest.corpus import Corpus
from talkhouse.schema.sql import insert


def declare(con: duckdb.DuckDBPyConnection, corpus: Corpus, *, is_sample: bool) -> None:
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
    )
    labels = [(scheme.name, label, meaning) for scheme in corpus.schemes for label, meaning in scheme.labels.items()]
    insert(con, "main.corpora", [own])
    insert(con, "main.schemes", [(scheme.name, scheme.description, scheme.target) for scheme in corpus.schemes])
    insert(con, "main.labels", labels)


def complete_vocabulary(con: duckdb.DuckDBPyConnection, corpus: Corpus) -> None:
    """Add the labels that occur and that no declaration knows, without a meaning."""
    con.execute(
        "insert into main.labels "
        "select distinct scheme, label, null from main.annotations "
        "anti join main.labels using (scheme, label) "
        "where label is not null and starts_with(record_id, ?)",
        [f"{corpus.id}/"],
    )
