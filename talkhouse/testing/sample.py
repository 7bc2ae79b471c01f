"""The sample and the golden cases: loaded whole, the same rows each time, and written back equal."""

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb

from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.files.limits import Boundary
from talkhouse.restore.verify import FINE, Status, verify
from talkhouse.schema.sql import identifier
from talkhouse.schema.tables import metadata, owned_by, qualified
from talkhouse.testing.subject import CannotCheck, Subject, require, require_none
from talkhouse.warehouse.rows_hash import RowsHash, hashes_of, rows_hash


def rows_are_told_apart(subject: Subject) -> None:
    """No two rows of a table have the same grain."""
    for table in metadata.tables.values():
        grain = ", ".join(table.info["grain"])
        query = f"select {grain}, count(*) from {qualified(table)} group by all having count(*) > 1 order by all"
        rows = subject.sample.execute(query).fetchall()
        require_none(rows, f"rows of {qualified(table)} with one key", expected=f"one row of each {grain}")


def references_are_kept(subject: Subject) -> None:
    """What a row refers to is there."""
    for table in metadata.tables.values():
        for constraint in table.foreign_key_constraints:
            rows = subject.sample.execute(_lost(table, constraint)).fetchall()
            require_none(rows, f"{qualified(table)} refers to what is not there", expected=str(constraint.column_keys))


def _lost(table: Any, constraint: Any) -> str:
    pairs = [(element.parent.name, element.column) for element in constraint.elements]
    target = qualified(pairs[0][1].table)
    match = " and ".join(f"there.{column.name} = here.{name}" for name, column in pairs)
    present = " and ".join(f"here.{name} is not null" for name, _ in pairs)
    names = ", ".join(f"here.{name}" for name, _ in pairs)
    return (
        f"select {names} from {qualified(table)} as here "
        f"where {present} and not exists (from {target} as there where {match}) order by all"
    )


def the_sample_loads_whole(subject: Subject) -> None:
    """Every record of the sample is loaded, and none is refused."""
    query = "select sum(records_in), sum(records_loaded) from meta.source_files where corpus_id = ?"
    ((came, loaded),) = subject.sample.execute(query, [subject.corpus.id]).fetchall()
    require(loaded, "nothing of the sample is loaded", where=subject.sample_files, expected="a record at least")
    refused = "select source_file_id, pointer, rule, detail from meta.quarantine where corpus_id = ?"
    rows = subject.sample.execute(refused, [subject.corpus.id]).fetchall()
    require_none(rows, "records of the sample are refused", expected="a sample without a mistake")
    require(came == loaded, "records of the sample are lost", expected=came, found=loaded)


def its_files_come_back_equal(subject: Subject) -> None:
    """Every file of the sample is written back: JSON equal in every value and the order of keys, others to the byte."""
    files_are_equal(subject, subject.sample, subject.sample_files)


def files_are_equal(subject: Subject, con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Write a corpus back and compare it with the files of a folder."""
    files = disk_files(folder, subject.corpus.id, boundary=Boundary(None))
    verdicts = list(verify(con, subject.corpus, files))
    for verdict in verdicts:
        difference = verdict.difference
        require(
            verdict.status in FINE,
            f"the file is {verdict.status} when it is written back"
            + (f": {difference.what}, at {difference.pointer or f'byte {difference.byte}'}" if difference else ""),
            where=verdict.file,
            expected=difference.expected if difference else "the file that was read",
            found=difference.found if difference else verdict.reason,
        )
    is_compared = any(verdict.status is Status.EQUAL for verdict in verdicts)
    require(is_compared, "no file was compared", where=folder, expected="one at least")


def it_shows_every_scheme_and_split(subject: Subject) -> None:
    """Schemes and splits occur in the sample as they are declared."""
    corpus = subject.corpus
    query = "select distinct scheme from main.annotations where starts_with(scheme, ?)"
    schemes = {scheme for (scheme,) in subject.sample.execute(query, [f"{corpus.id}."]).fetchall()}
    _same("schemes", {scheme.name for scheme in corpus.schemes}, schemes)
    query = "select distinct split, standard_split from main.records where corpus_id = ? and split is not null"
    splits = dict(subject.sample.execute(query, [corpus.id]).fetchall())
    _same("splits", set(corpus.splits), set(splits))
    require(splits == dict(corpus.splits), "other standard splits", expected=dict(corpus.splits), found=splits)


def _same(what: str, declared: set[str], shown: set[str]) -> None:
    for name in sorted(declared - shown):
        require(False, f"the sample shows not all {what}", expected=f"{name!r}, which is declared", found=sorted(shown))
    for name in sorted(shown - declared):
        require(False, f"the sample shows {what} that are not declared", expected=sorted(declared), found=repr(name))


def turns_have_no_gaps(subject: Subject) -> None:
    """The turns of each dialogue are numbered 0, 1, 2 ..."""
    rows = subject.sample.execute(
        "select dialogue_id, list(turn_index order by turn_index) from main.turns where starts_with(dialogue_id, ?) "
        "group by all having min(turn_index) <> 0 or max(turn_index) <> count(*) - 1 order by all",
        [f"{subject.corpus.id}:"],
    ).fetchall()
    require_none(rows, "turns are missing", expected="0, 1, 2 ... in each dialogue")


def keys_begin_with_the_id(subject: Subject) -> None:
    """Every row of the sample belongs to the corpus by its key, and every speaker too."""
    ids = [name for (name,) in subject.sample.execute("select corpus_id from main.corpora").fetchall()]
    for table in metadata.tables.values():
        if table.info["owner"]:
            mine = " or ".join(owned_by(table, corpus_id) for corpus_id in ids)
            column = table.info["owner"]
            query = f"select {column} from {qualified(table)} where not ({mine}) order by all limit 10"
            rows = subject.sample.execute(query).fetchall()
            require_none(rows, f"{qualified(table)}.{column} begins with another id", expected=f"'{subject.corpus.id}'")


def two_builds_give_equal_rows(subject: Subject) -> None:
    """A second build of the sample gives the same rows in every table and view."""
    first, second = (_rows(subject, con) for con in (subject.sample, subject.another_sample()))
    different = [name for name in {**first, **second} if first.get(name) != second.get(name)]
    require(not different, "two builds differ", expected="equal rows", found=", ".join(different))


def _rows(subject: Subject, con: duckdb.DuckDBPyConnection) -> dict[str, RowsHash]:
    tables = hashes_of(con, subject.corpus.id)
    views = {view.full_name: rows_hash(con, f"from {view.name_in_sql}") for view in subject.views}
    return {**tables, **views}


def every_task_has_rows_in_every_split(subject: Subject) -> None:
    """Each task has examples of each declared split in the sample."""
    if not subject.tasks:
        raise CannotCheck("the corpus has no task")
    for task in subject.tasks:
        for split in subject.corpus.splits:
            name = identifier(task.schema, f"{task.name}_{split}")
            ((count,),) = subject.sample.execute(f"select count(*) from {name}").fetchall()
            require(count, f"{name} has no example in the sample", expected="one at least", found=count)


_OF_THE_BUILD = {"meta.source_files": "exclude (modified_at, mtime_ns, inode, counts)"}
_DECLARED = ("corpora", "corpus_terms", "releases")
"""Tables that repeat the declaration, whatever the files are."""
_ENDING = ".jsonl"


def a_golden_case_gives_its_rows(subject: Subject, case: str) -> None:
    """Every row of every table and view that invented files become; they are written back equal."""
    folder = subject.case("golden", case)
    data = subject.laid_out(folder / "raw")
    con = subject.built(data)
    texts = _contents(subject, con)
    if subject.regen:
        _write(folder / "expected", texts)
    files_are_equal(subject, con, data / subject.corpus.id)
    if not (folder / "expected").is_dir():
        raise CannotCheck(f"there is no {folder / 'expected'}: --regen writes it")
    _compare(folder / "expected", texts)


def _contents(subject: Subject, con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Write the rows of tables and views as lines of JSON, by name; without those that have none."""
    queries = {
        qualified(table): f"select * {_OF_THE_BUILD.get(qualified(table), '')} from {qualified(table)} "
        f"where {owned_by(table, subject.corpus.id)} order by all"
        for table in metadata.tables.values()
        if table.info["owner"] and table.name not in _DECLARED
    }
    queries |= {
        view.full_name: f"from {view.name_in_sql} order by {', '.join(map(identifier, view.grain))}"
        for view in subject.views
        if view.schema == subject.corpus.id
    }
    texts = {name: _lines(con, query) for name, query in queries.items()}
    return {name: text for name, text in texts.items() if text}


def _lines(con: duckdb.DuckDBPyConnection, query: str) -> str:
    rows = con.execute(f"select to_json(rows)::varchar from ({query}) as rows").fetchall()
    return "".join(json.dumps(json.loads(row), ensure_ascii=False) + "\n" for (row,) in rows)


def _write(folder: Path, texts: dict[str, str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}{_ENDING}").write_text(text, encoding="utf-8")


def _compare(folder: Path, texts: dict[str, str]) -> None:
    """Compare the rows with the files; the first line that differs is shown."""
    written = {path.name.removesuffix(_ENDING): path for path in folder.glob(f"*{_ENDING}")}
    again = "read the difference, and write the files again with --regen if that is meant"
    for name in sorted({*written, *texts}):
        found = texts.get(name, "").splitlines()
        expected = written[name].read_text(encoding="utf-8").splitlines() if name in written else []
        for number in range(max(len(found), len(expected))):
            was, now = (lines[number] if number < len(lines) else "no row" for lines in (expected, found))
            where = f"{folder / name}{_ENDING}:{number + 1}"
            require(was == now, f"another row; {again}", where=where, expected=was, found=now)
