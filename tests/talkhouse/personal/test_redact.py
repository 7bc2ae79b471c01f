"""Texts that go out: with marks in place of personal data, or only when somebody says that it may."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest

import talkhouse as th
from talkhouse.export.export import export
from talkhouse.export.formats import Tool
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.packages.chat import ChatOptions
from talkhouse.packages.export import export_package
from talkhouse.personal.redact import opened_redacted
from talkhouse.schema.errors import PersonalDataFound
from tests.commands import run
from tests.data_files import data_of
from tests.limits import small_disk

HARBOUR = data_of(__file__)


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of one corpus of one's own with personal data."""
    root = tmp_path_factory.mktemp("harbour")
    folder = root / "data" / "harbour"
    folder.mkdir(parents=True)
    (folder / "corpus.toml").write_text(HARBOUR["declaration"], encoding="utf-8")
    (folder / "desk.jsonl").write_text(HARBOUR["file"].lstrip(), encoding="utf-8")
    build(root / "w.duckdb", Silent(), data=root / "data")
    return root / "w.duckdb"


def test_marks_stand_in_texts_and_spans_are_about_the_same_words(harbour: Path, tmp_path: Path) -> None:
    turns, spans = tmp_path / "turns.jsonl", tmp_path / "spans.jsonl"
    for name, output in (("main.turns", turns), ("bi.spans", spans)):
        done = run("export", name, "--output", output, "--redact", "--db", harbour)
        assert done.returncode == 0, done.stderr
    assert [row["text"] for row in rows(turns)] == HARBOUR["redacted"]
    with th.open(harbour) as con:
        before = con.execute("select label, span from bi.spans order by all").fetchall()
    after = [(row["label"], row["span"]) for row in rows(spans)]
    assert sorted(before) == sorted((label, words) for label, words, _ in HARBOUR["spans"])
    assert sorted(after) == sorted((label, words) for label, _, words in HARBOUR["spans"])
    manifest = json.loads((tmp_path / "turns.jsonl.manifest.json").read_text(encoding="utf-8"))
    assert manifest["redacted"]["marks"] == HARBOUR["marks"]


def rows(file: Path) -> Sequence[dict[str, str]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
def test_nothing_that_is_redacted_has_personal_data_in_any_byte(harbour: Path, tmp_path: Path) -> None:
    with opened_redacted(harbour) as warehouse:
        names = [
            f"{schema}.{name}" for schema, name in warehouse.columns if schema in ("main", "bi", "harbour", "meta")
        ]
        for name in names:
            export(warehouse, name, tmp_path / f"{name}.jsonl", is_accepted=True)
        for tool in Tool:
            if tool not in (Tool.SUPERSET, Tool.DBT):
                chats = ChatOptions(None, {"guest": "user", "desk": "assistant"}) if tool is Tool.CHAT else None
                export_package(warehouse, "harbour", tool, tmp_path / f"for_{tool}", chats=chats)
    for option, name in (("--site", "site"), ("--output", "report.html")):
        done = run("report", option, tmp_path / name, "--redact", "--db", harbour)
        assert done.returncode == 0, done.stderr
    written = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(written) > len(names)
    for file in written:
        content = file.read_bytes()
        for piece in HARBOUR["personal"]:
            assert piece.encode() not in content, (file.name, piece)
    assert any(b"&lt;email&gt;" in page.read_bytes() for page in (tmp_path / "site").rglob("*.html"))
    assert "redacted" in json.loads((tmp_path / "site" / "site.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("export", "main.turns", "--output", "out.csv"),
        ("export", "harbour", "--for", "convokit", "--output", "out"),
        ("report", "--site", "out"),
        ("report", "--output", "out.html"),
    ],
)
def test_personal_data_of_ones_own_goes_out_only_if_somebody_says_so(
    arguments: Sequence[str], harbour: Path, tmp_path: Path
) -> None:
    asked = run(*arguments, "--db", harbour, cwd=tmp_path)
    assert asked.returncode == 1
    found = "e-mail addresses: ", "telephone numbers: 1", "card numbers: 1"
    for words in ("in the texts of harbour", *found, "--redact", "--keep-personal-data"):
        assert words in asked.stderr, asked.stderr
    assert not (tmp_path / arguments[-1]).exists()
    again = run(*arguments, "--keep-personal-data", "--db", harbour, cwd=tmp_path)
    assert again.returncode == 0, again.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "column", ["list(text)", "list({'who': role, 'said': [text]})", "map(list(turn_index), list(text))"]
)
def test_texts_in_lists_and_structs_are_asked_about_too(harbour: Path, tmp_path: Path, column: str) -> None:
    path = Path(shutil.copyfile(harbour, tmp_path / "w.duckdb"))
    with duckdb.connect(path) as con:
        con.execute(f"create view harbour.talks as select dialogue_id, {column} as talk from main.turns group by all")
    asked = run("export", "harbour.talks", "--output", "talks.jsonl", "--db", path, cwd=tmp_path)
    assert asked.returncode == 1
    assert "personal data in the texts of harbour" in asked.stderr, asked.stderr
    assert "e-mail addresses: " in asked.stderr
    assert not (tmp_path / "talks.jsonl").exists()


@pytest.mark.slow
@pytest.mark.parametrize("room", ["2M", "60%"])
def test_a_full_temporary_folder_says_what_to_do(harbour: Path, tmp_path: Path, room: str) -> None:
    """Full before the copy is whole, and while the marks are put into it."""
    size = room if room.endswith("M") else f"{harbour.stat().st_size + 200_000}"
    with small_disk(f"size={size}") as disk:
        words = ["export", "main.turns", "--redact", "--output", tmp_path / "turns.csv", "--db", harbour]
        done = run(*words, env={"TMPDIR": str(disk)})
        assert done.returncode == 1
        assert "next:     make room" in done.stderr, done.stderr
        assert [*disk.iterdir()] == []
    assert not (tmp_path / "turns.csv").exists()


@pytest.mark.slow
def test_what_has_no_texts_is_not_asked_about(harbour: Path, tmp_path: Path) -> None:
    done = run("export", "bi.label_counts", "--output", tmp_path / "counts.csv", "--db", harbour)
    assert done.returncode == 0, done.stderr
    done = run("export", "main.turns", "--columns", "turn_index,role", "--output", tmp_path / "t.csv", "--db", harbour)
    assert done.returncode == 0, done.stderr


def test_the_warehouse_itself_stays_as_it_is(harbour: Path, tmp_path: Path) -> None:
    before = harbour.read_bytes()
    assert run("export", "main.turns", "--output", tmp_path / "t.csv", "--redact", "--db", harbour).returncode == 0
    assert harbour.read_bytes() == before
    with duckdb.connect(harbour, read_only=True) as con:
        assert con.execute("select count(*) from main.turns where text like '%harbour.example%'").fetchone() == (1,)


def test_python_exports_with_the_same_options(harbour: Path, tmp_path: Path) -> None:
    warehouse = th.warehouse(harbour)
    with pytest.raises(PersonalDataFound, match="e-mail addresses"):
        warehouse.export("main.turns", tmp_path / "asked.jsonl")
    warehouse.export("main.turns", tmp_path / "marked.jsonl", redact=True)
    assert [row["text"] for row in rows(tmp_path / "marked.jsonl")] == HARBOUR["redacted"]
    warehouse.export("main.turns", tmp_path / "kept.jsonl", keep_personal_data=True)
    assert "ida@harbour.example" in (tmp_path / "kept.jsonl").read_text(encoding="utf-8")
