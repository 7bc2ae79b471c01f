"""Text that comes from files never acts on the user's terminal, whichever command shows it, and can't hide there."""

import io
import json
import re
import shutil
import sys
import unicodedata
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.markup import escape

from talkhouse.cli.terminal.console import Printer
from talkhouse.cli.terminal.progress import ProgressBar
from talkhouse.escaping import escaped_json, visible, visible_json
from talkhouse.export.row_stream import QueryRows
from talkhouse.export.writers import write_markdown, write_table
from talkhouse.schema.sql import literal
from tests.commands import on_a_terminal, run, run_bytes

EVIL = (
    "needle \x1b[666mred \x1b]0;title\x07 \x1b]8;;http://x.invalid\x1b\\link\x1b]8;;\x1b\\ \x1b]52;c;ZXZpbA==\x07 "
    "\x1bPq\x1b\\ \x1bc \x9b31m \x08 \x0b \x0c \x0e \x7f \x85 \u202eabc\u202c \u2066a\u2069 \u200bzero\u200d\u00ad "
    "\ufeff\u2060 \u2028 \U000e0041tag [bold]b[/bold] [link=http://x.invalid]l[/link] [/nothing] \\[red] end\\"
)
"""What a hostile file may hold; DuckDB takes no NUL in a literal."""

UNSAFE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
OURS = re.compile(r"\x1b\[(?:[\d;]*m|\?25[lh]|2K|1A)|\r")
"""What Rich writes to a terminal: colours, and for a bar the cursor, the line and one line up."""

EMOJI = [
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\u2764\ufe0f",
    "\U0001f3f3\ufe0f\u200d\U0001f308",
    "1\ufe0f\u20e3",
]
SPELLED = ["\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0dc1\u0dca\u200d\u0dbb\u0dd3"]
"""Persian and Sinhala words that are spelled with joiners."""


@pytest.fixture(scope="module")
def hostile(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse in which turns, titles, licences, findings, sources and comments hold what acts on a terminal."""
    path = Path(shutil.copyfile(sample, tmp_path_factory.mktemp("hostile") / "w.duckdb"))
    with duckdb.connect(path) as con:
        for column in ("main.turns.text", "main.corpora.title", "main.corpora.licence", "meta.loads.source"):
            table, _, name = column.rpartition(".")
            con.execute(f"update {table} set {name} = ?", [EVIL])
        evil = "'" + EVIL.replace("'", "''") + "'"
        con.execute(f"comment on view dbdc3.breakdown_detection is {evil}")
        con.execute(f"comment on column dbdc3.breakdown_detection.context is {evil}")
        con.execute(
            "insert into meta.findings values ('dbdc3', 900, 'TH-01', 'warn', null, ?, null, null, null, ?)", [EVIL] * 2
        )
    return path


SHOWING = {
    "show": ["show", "dbdc3:CIC9001"],
    "search": ["search", "needle", "--limit", "3"],
    "search that finds nothing": ["search", EVIL + "x"],
    "findings": ["findings"],
    "views": ["views"],
    "one view": ["views", "dbdc3.breakdown_detection"],
    "status": ["status"],
    "sql": ["sql", "select text, [text] as list, {'a': text} as struct from main.turns limit 2"],
    "sql in markdown": ["sql", "select text from main.turns limit 2", "--format", "markdown"],
    "title of a column": ["sql", 'select 1 as "' + EVIL + '"'],
    "error of a query": ["sql", "select error(text) from main.turns"],
    "error that quotes the query": ["sql", "select " + EVIL],
    "unknown table": ["sql", 'from "' + EVIL + '"'],
    "conversion": ["sql", "select text::int from main.turns"],
    "unknown dialogue": ["show", EVIL],
    "id that is not Unicode": ["show", "a\udcffb"],
    "unknown view": ["views", EVIL],
    "unknown corpus": ["findings", "--corpus", EVIL],
    "missing warehouse": ["status", "--db", EVIL],
    "export": ["export", "main.corpora", "--output", "out.csv", "--force"],
    "show in JSON": ["show", "dbdc3:CIC9001", "--json"],
    "search in JSON": ["search", "needle", "--limit", "3", "--json"],
    "findings in JSON": ["findings", "--json"],
    "views in JSON": ["views", "dbdc3.breakdown_detection", "--json"],
    "status in JSON": ["status", "--json"],
    "checks in JSON": ["check", "--json"],
    "checks": ["check"],
}


def arguments(command: list[str], warehouse: Path) -> list[str]:
    return command if "--db" in command else [*command, "--db", str(warehouse)]


def commands(*quick: str) -> pytest.MarkDecorator:
    """Run a test with each command, in the quick lane with these."""
    marks = {name: () if name in quick else pytest.mark.slow for name in SHOWING}
    cases = [pytest.param(command, marks=marks[name], id=name) for name, command in SHOWING.items()]
    return pytest.mark.parametrize("command", cases)


@commands("show", "search", "sql", "error of a query", "missing warehouse", "status in JSON", "checks in JSON")
def test_nothing_acts_on_a_pipe(hostile: Path, tmp_path: Path, command: list[str]) -> None:
    shown = run(*arguments(command, hostile), cwd=tmp_path)
    assert UNSAFE.findall((shown.stdout + shown.stderr).replace("\t", " " if command[0] == "search" else "\t")) == []


@commands(
    *("show", "search", "findings", "one view", "status", "sql", "title of a column", "error of a query"),
    *("unknown dialogue", "export", "checks", "search in JSON"),
)
def test_nothing_acts_on_a_terminal(hostile: Path, tmp_path: Path, command: list[str]) -> None:
    shown = on_a_terminal(arguments(command, hostile), tmp_path, columns=2000)
    assert "\x1b[666m" not in shown
    assert UNSAFE.findall(OURS.sub("", shown)) == []
    if command[0] in ("show", "search", "status") and not {"--json", "--db", "a\udcffb"} & set(command):
        assert "\\x1b[666m" in shown
        assert "[bold]b[/bold] [link=http://x.invalid]l[/link] [/nothing]" in shown
    assert "Traceback" not in shown


def test_file_names_in_progress_and_notes_are_safe(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "dbdc3" / "a\x1b[666mb\u202ec"
    folder.mkdir(parents=True)
    (folder / "x\x1b]0;t\x07.log.json").write_text("{")
    (folder / "y\udcff.log.json").write_text("{")
    command = ["build", "--data", str(tmp_path / "data"), "--dry-run", "--max-quarantine", "100%"]
    piped = run(*command, cwd=tmp_path)
    assert UNSAFE.findall(piped.stdout + piped.stderr) == []
    assert UNSAFE.findall(OURS.sub("", on_a_terminal(command, tmp_path))) == []


def test_formats_for_programs_keep_every_text(hostile: Path, tmp_path: Path) -> None:
    query = "select distinct text from main.turns"
    rows = {
        kind: run_bytes("sql", query, "--db", hostile, "--format", kind).stdout.decode() for kind in ("csv", "jsonl")
    }
    assert rows["csv"] == f'"text"\n"{EVIL}"\n'
    assert json.loads(rows["jsonl"])["text"] == EVIL
    run("export", "main.corpora", "--output", tmp_path / "out.parquet", "--db", hostile)
    assert duckdb.execute(f"select distinct title from '{tmp_path}/out.parquet'").fetchall() == [(EVIL,)]
    found = json.loads(run("status", "--json", "--db", hostile).stdout)
    assert {corpus["title"] for corpus in found["corpora"]} == {EVIL}


texts = st.text(st.characters(codec=None) | st.sampled_from("\x1b[]\\\n\r\t\x9b\u202e\u200d\ufe0f\x07\x00/"))


storable = st.text(
    st.characters(codec="utf-8", exclude_characters="\x00") | st.sampled_from("\x1b[]\\\n\r\t\x9b\u202e\x07")
)


def is_unsafe(character: str) -> bool:
    """Whether Unicode says that a character is a control or has no shape; but for signs that stand before digits."""
    category = unicodedata.category(character)
    return category in ("Cc", "Cf", "Cs", "Zl", "Zp") and not unicodedata.name(character, "").endswith(SIGNS)


SIGNS = ("SIGN", "AYAH", "MARK", "ABOVE", "BELOW", "SANAH", "SAFHA", "SAMVAT", "FOOTNOTE MARKER")


def test_every_control_and_format_character_is_written_out() -> None:
    left = [chr(code) for code in range(sys.maxunicode + 1) if is_unsafe(chr(code)) and visible(chr(code)) == chr(code)]
    assert left == []


@pytest.mark.parametrize("text", EMOJI + SPELLED)
def test_emoji_and_words_stay_whole(text: str) -> None:
    assert visible(f"a {text} b") == f"a {text} b"


def test_joiners_between_letters_are_shown() -> None:
    assert visible("ad\u200dmin\ufe0f") == r"ad\u200dmin\ufe0f"


@given(texts)
def test_visible_text_has_no_control(text: str) -> None:
    assert not any(
        is_unsafe(character) for character in visible(text).translate(dict.fromkeys(map(ord, "\u200c\u200d\ufe0f")))
    )
    assert visible(visible(text)) == visible(text)
    assert visible(text, lines=True).replace("\n", "\\n") == visible(text)


@given(texts)
def test_json_that_is_safe_to_print_is_exact(text: str) -> None:
    assert json.loads(visible_json([text])) == [text]
    assert json.loads(escaped_json(json.dumps(text, ensure_ascii=False))) == text
    assert UNSAFE.findall(visible_json([text])) == []


@given(texts)
def test_no_control_gets_through_the_printer(text: str) -> None:
    for is_terminal in (True, False):
        stream = io.StringIO()
        printer = Printer(file=stream, force_terminal=is_terminal, width=80, color_system=None)
        printer.print(f"[bold]{escape(text)}[/] end")
        assert UNSAFE.findall(OURS.sub("", stream.getvalue())) == []


@given(storable)
def test_no_control_gets_through_tables(con: duckdb.DuckDBPyConnection, text: str) -> None:
    for write in (write_table, write_markdown):
        stream = io.StringIO()
        write(QueryRows(con, con.sql(f"select {literal(text)} as x, [{literal(text)}] as y")), stream)
        assert UNSAFE.findall(stream.getvalue()) == []


def test_a_progress_bar_shows_steps_safely() -> None:
    stream = io.StringIO()
    with ProgressBar(Printer(file=stream, force_terminal=True, width=2000)) as bar:
        bar.begin(EVIL)
        bar.advance(1)
    assert UNSAFE.findall(OURS.sub("", stream.getvalue())) == []
    assert "needle" in stream.getvalue()


def test_completion_offers_no_name_that_acts(hostile: Path, tmp_path: Path) -> None:
    from types import SimpleNamespace

    from talkhouse.cli.terminal.completion import relations

    path = Path(shutil.copyfile(hostile, tmp_path / "w.duckdb"))
    with duckdb.connect(path) as con:
        con.execute('create view dbdc3."a\x1b[31mb" as select 1')
    names = relations(SimpleNamespace(params={"db": path}), None, "")  # type: ignore[arg-type]
    assert "dbdc3.breakdown_detection" in names
    assert UNSAFE.findall("".join(names)) == []


@pytest.mark.parametrize(
    ("ahead", "done", "shown"),
    [
        ({"size": 4_000_000}, (12, 1_000_000), ["12 records, 1.0 MB of 4.0 MB, ", " a second"]),
        ({"records": 2_000}, (1_200, 5_000), ["1,200 of 2,000 records, 5.0 kB, ", " a second"]),
        ({"size": 4_000_000, "unit": ""}, (0, 1_000_000), [" 1.0 MB of 4.0 MB, ", " a second"]),
        ({"unit": "rows"}, (70_000,), ["70,000 rows, ", " a second"]),
    ],
)
def test_it_counts_what_is_done(ahead: dict[str, int], done: tuple[int, ...], shown: list[str]) -> None:
    stream = io.StringIO()
    with ProgressBar(Printer(file=stream, force_terminal=True, width=120), redrawn=1e-9) as bar:
        bar.begin("reading [toy]", **ahead)
        bar.advance(*done)
    assert "reading [toy]" in stream.getvalue()
    assert all(words in stream.getvalue() for words in shown), stream.getvalue()


def test_elsewhere_nothing_is_shown() -> None:
    stream = io.StringIO()
    with ProgressBar(Printer(file=stream)) as bar:
        bar.begin("exporting", records=10)
        bar.advance(10)
    assert stream.getvalue() == ""
