"""What holds for every corpus, as functions of it: its declaration, a warehouse of its sample, its test files."""

import json
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.files.skipped import skip_reason
from talkhouse.ingest.registry import rules_of, sample_of
from talkhouse.queries.catalogue import Catalogue
from talkhouse.queries.heads import ExampleQuery, ViewQuery
from talkhouse.restore.write_back import write_back
from talkhouse.schema.tables import qualified
from talkhouse.testing.clauses import Clause, Told

HEADINGS = ("What it is", "Source and licence", "Citation", "How raw becomes rows", "Quirks", "Left out")
"""Of a corpus's README, in this order."""

# The sample.


def the_sample_loads_whole(corpus: Corpus, con: duckdb.DuckDBPyConnection) -> None:
    """Every record of the sample is loaded."""
    ((came, loaded, quarantined),) = con.execute(
        "select sum(records_in), sum(records_loaded), sum(records_quarantined) "
        "from meta.source_files where corpus_id = ?",
        [corpus.id],
    ).fetchall()
    assert came == loaded > 0
    assert quarantined == 0


def the_sample_shows_every_scheme_and_split(corpus: Corpus, con: duckdb.DuckDBPyConnection) -> None:
    """Schemes and splits occur as they are declared."""
    schemes = con.execute("select distinct scheme from main.annotations where starts_with(record_id, ?)", [corpus.id])
    assert {scheme for (scheme,) in schemes.fetchall()} == {scheme.name for scheme in corpus.schemes}
    splits = con.execute("select distinct split, standard_split from main.records where corpus_id = ?", [corpus.id])
    assert {pair for pair in splits.fetchall() if pair[0]} == set(corpus.splits.items())


def it_is_declared_with_its_licence(corpus: Corpus, con: duckdb.DuckDBPyConnection) -> None:
    """The warehouse says under which licence a corpus is, and what to cite."""
    query = "select licence, citation from main.corpora where corpus_id = ?"
    assert con.execute(query, [corpus.id]).fetchall() == [(corpus.licence, corpus.citation)]
    assert corpus.licence
    assert corpus.citation


def it_has_a_readme(corpus: Corpus) -> None:
    """The README beside the sample has the headings that all have."""
    readme = (sample_of(corpus).parent / "README.md").read_text(encoding="utf-8")
    assert tuple(line[3:] for line in readme.splitlines() if line.startswith("## ")) == HEADINGS


def files_come_back_equal(corpus: Corpus, raw: Path, con: duckdb.DuckDBPyConnection, output: Path) -> None:
    """Restore a corpus and compare: JSON by value and order of keys, everything else byte for byte."""
    write_back(con, corpus, output)
    compared = 0
    for path in (path for path in raw.rglob("*") if path.is_file() and not skip_reason(path.name)):
        name = path.relative_to(raw)
        ((kind,),) = con.execute(
            "select kind from meta.source_files where source_file_id = ?", [f"{corpus.id}/{name}"]
        ).fetchall()
        if kind == "unrecognised":
            continue
        came, went = path.read_bytes(), (output / name).read_bytes()
        if path.suffix == ".json" and kind == "read":
            assert json.dumps(json.loads(_decoded(went))) == json.dumps(json.loads(_decoded(came)))
            assert went[:1] == came[:1], "the byte order mark"
        else:
            assert went == came, name
        compared += 1
    assert compared > 0


def _decoded(raw: bytes) -> str:
    """Decode a file in which single records may be no UTF-8, each such byte as half of a surrogate pair."""
    return raw.decode("utf-8-sig", errors="surrogateescape")


# Views and tables.


def tasks_have_rows_in_every_split(corpus: Corpus, con: duckdb.DuckDBPyConnection, catalogue: Catalogue) -> None:
    """Each task view of each declared split has examples in the sample."""
    for task in (query for query in catalogue.examples if query.schema == corpus.id):
        for split in corpus.splits:
            assert con.execute(f"select count(*) > 0 from {task.full_name}_{split}").fetchall() == [(True,)]


def the_grain_is_unique(query: ViewQuery | ExampleQuery, con: duckdb.DuckDBPyConnection) -> None:
    """No two rows of a view have the grain that its head names."""
    grain = ", ".join(query.grain)
    doubled = f"select {grain}, count(*) from ({query.sql}) group by all having count(*) > 1"
    assert con.execute(doubled).fetchall() == []


def the_view_works_under_attach_and_says_what_it_is(
    view: ViewQuery, attached: duckdb.DuckDBPyConnection, con: duckdb.DuckDBPyConnection
) -> None:
    """A view has the same rows where the warehouse is attached as ``another_name``, and its comment."""
    there = attached.execute(f"select count(*) from another_name.{view.full_name}").fetchall()
    comment = attached.execute(
        "select comment from duckdb_views() where schema_name = ? and view_name = ?", [view.schema, view.name]
    ).fetchall()
    assert there == con.execute(f"select count(*) from {view.full_name}").fetchall()
    assert comment == [(view.comment,)]


def every_column_says_what_it_is(con: duckdb.DuckDBPyConnection, views: Iterable[ViewQuery]) -> None:
    """Every column of every view has a comment, and a head explains no column that is not there."""
    names = "select schema_name, view_name from duckdb_views() where not internal"
    bare = f"""
        select schema_name, table_name, column_name from duckdb_columns()
        where comment is null and (schema_name, table_name) in ({names})
    """
    assert con.execute(bare).fetchall() == []
    for view in views:
        columns = {name for (name, *_) in con.execute(f"describe {view.full_name}").fetchall()}
        assert view.columns.keys() <= columns, "a meaning of a column that is not there"


def the_task_view_has_the_columns_of_all(task: ExampleQuery, con: duckdb.DuckDBPyConnection) -> None:
    """A task view begins with the same five columns, and its examples are numbered without a gap."""
    columns = [name for (name, *_) in con.execute(f"describe {task.full_name}").fetchall()]
    assert columns[:5] == ["split", "standard_split", "example_index", "dialogue_id", "native_id"]
    gaps = (
        f"select release, split from main.examples where corpus_id = '{task.schema}' and task = '{task.name}' "
        "group by all having min(example_index) <> 0 or max(example_index) <> count(*) - 1"
    )
    assert con.execute(gaps).fetchall() == []


def the_rows_of_a_table_are_told_apart(table: Any, con: duckdb.DuckDBPyConnection) -> None:
    """No two rows of a table have the same grain."""
    grain = ", ".join(table.info["grain"])
    doubled = f"select {grain}, count(*) from {qualified(table)} group by all having count(*) > 1"
    assert con.execute(doubled).fetchall() == []


def every_reference_is_kept(table: Any, con: duckdb.DuckDBPyConnection) -> None:
    """What a row refers to is there."""
    for constraint in table.foreign_key_constraints:
        pairs = [(element.parent.name, element.column) for element in constraint.elements]
        target = qualified(pairs[0][1].table)
        match = " and ".join(f"there.{column.name} = here.{name}" for name, column in pairs)
        present = " and ".join(f"here.{name} is not null" for name, _ in pairs)
        lost = (
            f"select count(*) from {qualified(table)} as here "
            f"where {present} and not exists (from {target} as there where {match})"
        )
        assert con.execute(lost).fetchall() == [(0,)], constraint


# Rules.


def the_broken_file_is_told_and_kept(
    corpus: Corpus, rule_id: str, data: Path, con: duckdb.DuckDBPyConnection, output: Path
) -> None:
    """A file that breaks a rule is told and kept, the rest is loaded, and all of it comes back."""
    rule = rules_of(corpus)[rule_id]
    findings = con.execute(
        "select findings.severity, source_file_id, detail, remedy "
        "from meta.findings inner join meta.rules using (rule) where rule = ?",
        [rule.id],
    ).fetchall()
    assert rule.severity in {severity for severity, *_ in findings}, f"no finding of {rule.id} as severe as the rule is"
    assert all(file and detail and remedy for _, file, detail, remedy in findings)
    ((came, loaded, quarantined),) = con.execute(
        "select sum(records_in), sum(records_loaded), sum(records_quarantined) from meta.source_files"
    ).fetchall()
    assert came == loaded + quarantined
    assert loaded == con.execute("select count(*) from main.records").fetchall()[0][0] > 0
    refused = con.execute(
        "select source_file_id, pointer, raw from meta.quarantine where rule = ?", [rule.id]
    ).fetchall()
    assert bool(refused) == rule.severity.startswith("reject_") or rule.severity == "reject_example"
    for name, pointer, raw in refused:
        whole = (data / name).read_bytes()
        assert raw in whole if pointer else raw == whole
    files_come_back_equal(corpus, data / corpus.id, con, output)


def every_rule_has(corpus: Corpus, names: Iterable[str]) -> None:
    """The rules that a corpus can break are those of which there are broken files, or clauses."""
    assert set(names) == {*corpus.common_rules, *(rule.id for rule in corpus.rules)}


def the_clause_is_told(corpus: Corpus, clause: Clause, told: Counter[Told], accepted: Counter[Told]) -> None:
    """A change of the sample gives the one finding that its clause announces; ``accepted`` is told without it."""
    new = [finding for finding in (told - accepted).elements() if finding.rule == clause.rule]
    severity = clause.severity or rules_of(corpus)[clause.rule].severity
    announced = [(finding.severity, finding.place) for finding in new if clause.words in finding.detail]
    assert announced == [(severity, clause.place)], new


def laid_out(corpus: Corpus, raw: Path, folder: Path) -> Path:
    """Lay a corpus's raw files out as a data folder."""
    shutil.copytree(raw, folder / "data" / corpus.id)
    return folder / "data"
