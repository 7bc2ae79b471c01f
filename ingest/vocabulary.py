"""What a corpus declares, put into its tables: its own row, its schemes and their labels."""

import duckdb

from ingest.corpus import Corpus


def declare(con: duckdb.DuckDBPyConnection, corpus: Corpus, *, is_sample: bool) -> None:
    """Insert the corpus's own row and its vocabulary."""
    con.execute(
        "insert into main.corpora values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
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
        ],
    )
    for scheme in corpus.schemes:
        con.execute("insert into main.schemes values (?, ?, ?)", [scheme.name, scheme.description, scheme.target])
        for label, meaning in scheme.labels.items():
            con.execute("insert into main.labels values (?, ?, ?)", [scheme.name, label, meaning])


def complete_vocabulary(con: duckdb.DuckDBPyConnection, corpus: Corpus) -> None:
    """Add the labels that occur and that no declaration knows, without a meaning."""
    con.execute(
        "insert into main.labels "
        "select distinct scheme, label, null from main.annotations "
        "anti join main.labels using (scheme, label) "
        "where label is not null and starts_with(record_id, ?)",
        [f"{corpus.id}/"],
    )
