"""A warehouse that somebody has changed: nothing is written outside of the output folder, no end in a traceback."""

import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from pathlib import Path

import duckdb
import pytest

from talkhouse.ingest import rows
from talkhouse.ingest.registry import corpora
from talkhouse.restore.output_paths import files_built_from
from talkhouse.restore.raw_record import raw
from talkhouse.restore.write_back import write_back
from talkhouse.schema.errors import TalkhouseError
from talkhouse.schema.tables import metadata, owned_by, qualified
from tests.commands import run

NAMES = [
    *("", ".", "..", "/", "//", "../x", "../../x", "/etc/x", "//x", "a/../../x", "a/..", "..\\x", "C:\\x"),
    "a\\..\\..\\x",
    *("\0", "a\0b", "../x\0.json", "\x1b[2J", "\n", "\u202e", "a" * 256, "a/" * 3_000, "~", "~/x", "-x", " "),
    *(".talkhouse.members", ".talkhouse.members/0", ".talkhouse.part"),
    *("x.zip/a", "a.json/b", "A.JSON", "dbdc3/../../x"),
]
"""What stands where the rest of a path or the name of a member was."""

READ = [
    *(rows.FileRow, rows.Record, rows.Dialogue, rows.Speaker, rows.Participant, rows.Turn, rows.Persona),
    *(rows.PersonaUse, rows.Image, rows.Annotation, rows.Candidate, rows.CandidateText, rows.Quarantined),
]
"""The tables that records are written back from."""

VALUES = [
    *("null", "'../x'", "chr(0)", "'{'", "'[]'", "'null'", """'{"a": [1]}'""", "repeat('[', 5000)"),
    *("-1", "1e308", "[1]"),
]


class Tampered:
    """A warehouse in memory with the rows of the sample, to be changed and restored."""

    def __init__(self, sample: Path) -> None:
        self.con = duckdb.connect()
        self.con.execute(f"attach '{sample}' as base (read_only)")
        self.con.execute("create schema meta")
        for table in metadata.tables.values():
            self.set(qualified(table))

    def set(self, table: str, changed: str = "*") -> None:
        """Fill a table again, with other columns."""
        self.con.execute(f"create or replace table {table} as select {changed} from base.{table}")


@pytest.fixture(scope="module")
def tampered(sample: Path) -> Iterator[Tampered]:
    tampered = Tampered(sample)
    yield tampered
    tampered.con.close()


def ends_well(work: Callable[[], object]) -> bool:
    """Whether a call succeeds; an error that explains itself is the only other end."""
    try:
        work()
    except TalkhouseError:
        return False
    return True


def sql(text: str) -> str:
    return "'" + text.replace("'", "''").replace("\0", "' || chr(0) || '") + "'"


def all_below(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


@pytest.mark.long
@pytest.mark.parametrize("archives", [False, True])
@pytest.mark.parametrize("start", ["", "dbdc3/", "dbdc3/x.zip!"])
def test_no_name_leads_out_of_the_folder(tampered: Tampered, tmp_path: Path, start: str, archives: bool) -> None:
    folder, _, member = start.partition("!")
    first = "source_file_id = (select min(source_file_id) from base.meta.source_files where kind = 'read')"
    for number, name in enumerate(NAMES):
        text = sql(name)
        path, member = (f"'{folder}'", text) if "!" in start else (f"'{folder}' || {text}", "member")
        columns = f"if({first}, {path}, path) as path, if({first}, {member}, member) as member"
        tampered.set("meta.source_files", f"* replace ({columns})")
        output, before = tmp_path / str(number), all_below(tmp_path)
        ends_well(partial(write_back, tampered.con, corpora()["dbdc3"], output, archives=archives))
        assert not [path for path in all_below(tmp_path) - before if not path.is_relative_to(output)]
        for zipped in output.rglob("*.zip"):
            with zipfile.ZipFile(zipped) as archive:
                assert not [name for name in archive.namelist() if ".." in name.split("/") or name.startswith("/")]
    tampered.set("meta.source_files")


@pytest.mark.slow
@pytest.mark.parametrize("kind", READ, ids=lambda kind: kind.__name__)
def test_no_value_of_any_column_ends_in_a_traceback(tampered: Tampered, tmp_path: Path, kind: type[rows.Row]) -> None:
    name, values, con = qualified(metadata.tables[kind.TABLE]), cycle(VALUES), tampered.con
    for column in kind.__struct_fields__:
        for corpus in corpora().values():
            where = f"{owned_by(metadata.tables[kind.TABLE], corpus.id)} and {column} is not null"
            ((row,),) = con.execute(f"select min(rowid) from base.{name} where {where}").fetchall()
            if row is None:
                continue
            value = next(values)
            try:
                tampered.set(name, f"* replace (if(rowid = {row}, {value}, {column}) as {column})")
            except (duckdb.ConversionException, duckdb.BinderException):
                # No value of the column's type: then the type is another one.
                tampered.set(name, f"* replace ({value} as {column})")
            ends_well(partial(write_back, con, corpus, tmp_path / f"{column}_{corpus.id}"))
            ((record,),) = con.execute(
                f"select min(record_id) from base.main.records where corpus_id = '{corpus.id}'"
            ).fetchall()
            ends_well(partial(raw, con, record))
            break
    tampered.set(name)


@pytest.mark.slow
def test_where_the_files_were_may_be_any_text(tampered: Tampered) -> None:
    tampered.set("main.corpora", "* replace (false as is_sample)")
    odd = ("a\0b", "a" * 5_000, "\n", "none/../..", "/etc/passwd /etc/hosts", "/dev/zero", "/dev/zero /dev/tty")
    for source in odd:
        tampered.set("meta.loads", f"* replace ({sql(source)} as source)")
        ends_well(partial(files_built_from, tampered.con, corpora(), "dbdc3"))
    tampered.set("main.corpora")
    tampered.set("meta.loads")


@pytest.mark.slow
def test_the_commands_say_what_is_wrong(sample: Path, tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    path.write_bytes(sample.read_bytes())
    with duckdb.connect(path) as con:
        con.execute("update meta.source_files set path = path || chr(0) where kind = 'read' and corpus_id = 'dbdc3'")
        con.execute("update main.records set extra = '[]' where corpus_id = 'mantis'")
        con.execute(
            "update main.records set extra = '{\"fields\": [[]]}' where corpus_id = 'mantis' and extra is not null"
        )
        con.execute(
            "insert into meta.quarantine by name select corpus_id, source_file_id, '' as pointer, '' as rule, "
            "'' as detail, ''::blob as raw from meta.source_files where corpus_id = 'dbdc3' and kind = 'read' limit 1"
        )
        ((record,),) = con.execute("select min(record_id) from main.records where corpus_id = 'mantis'").fetchall()
    restored = ("restore dbdc3 --output a", "restore mantis --output a --archive")
    for command in (*restored, "verify", "verify --json", f"show {record} --raw", "replay"):
        done = run(*command.split(), "--db", path, cwd=tmp_path)
        assert done.returncode == 1, command
        assert "error: " in done.stderr, done.stderr
    # Of the second corpus, the files with other records are written.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "w.duckdb"]
