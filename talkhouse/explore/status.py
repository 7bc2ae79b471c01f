"""What is in a warehouse: corpora with their counts, files, findings, and the build."""

from pathlib import Path
from typing import Any

import duckdb

from schema.sql import dicts

_CORPORA = """
select
    corpora.corpus_id,
    corpora.title,
    corpora.is_sample,
    corpora.licence,
    corpora.terms,
    corpora.reader_version,
    (select count(*) from main.dialogues where dialogues.corpus_id = corpora.corpus_id) as dialogues,
    (select count(*) from main.records where records.corpus_id = corpora.corpus_id) as records,
    (select count(*) from main.turns where starts_with(dialogue_id, corpora.corpus_id || ':')) as turns,
    (select count(*) from main.speakers where speakers.corpus_id = corpora.corpus_id) as speakers,
    (select count(*) from main.personas where personas.corpus_id = corpora.corpus_id) as personas,
    (select count(*) from main.annotations where starts_with(record_id, corpora.corpus_id || '/')) as annotations,
    (select count(*) from main.candidates where starts_with(record_id, corpora.corpus_id || '/')) as candidates,
    (select count(*) from main.examples where examples.corpus_id = corpora.corpus_id) as examples,
    (select count(*) from meta.source_files where source_files.corpus_id = corpora.corpus_id) as files,
    (select count(*) from meta.quarantine where quarantine.corpus_id = corpora.corpus_id) as quarantined,
    (select count(*) from meta.findings where findings.corpus_id = corpora.corpus_id) as findings,
from main.corpora
order by corpora.corpus_id
"""

_BUILD = """
select load_id, finished_at, talkhouse_version, schema_revision, source
from meta.loads
order by load_id desc
limit 1
"""


def status(con: duckdb.DuckDBPyConnection, path: Path) -> dict[str, Any]:
    """Count what a warehouse holds; the keys are the names of the columns."""
    build = dicts(con.execute(_BUILD))
    general = con.execute("select count(*) from meta.findings where corpus_id is null").fetchone()
    return {
        "database": str(path),
        "bytes": path.stat().st_size,
        "build": build[0] if build else None,
        "corpora": dicts(con.execute(_CORPORA)),
        "findings_without_corpus": general[0] if general else 0,
    }
