"""Golden cases: ``golden/<case>/raw`` gives the rows in ``golden/<case>/expected``, and comes back equal."""

import json
import shutil
from pathlib import Path

import duckdb

from talkhouse.schema.tables import metadata, owned_by, qualified
from talkhouse.testing.checks.sample import files_are_equal
from talkhouse.testing.failure import CannotCheck, require
from talkhouse.testing.subject import Subject

_OF_THE_MACHINE = {"meta.source_files": "exclude (modified_at, mtime_ns, inode)"}
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
        qualified(table): f"select * {_OF_THE_MACHINE.get(qualified(table), '')} from {qualified(table)} "
        f"where {owned_by(table, subject.corpus.id)} order by all"
        for table in metadata.tables.values()
        if table.info["owner"] and table.name not in _DECLARED
    }
    queries |= {
        view.full_name: f"from {view.full_name} order by {', '.join(view.grain)}"
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
