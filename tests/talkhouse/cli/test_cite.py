"""``talkhouse cite``: corpora and views of a warehouse, and exports without one."""

import json
import shutil
from pathlib import Path

import pytest

from tests.commands import on_a_terminal, run
from tests.samples import GROUPS, PICTURES, POSTS, RELEASES, SUGGESTIONS

GOLDEN = Path(__file__).parents[1] / "citation" / "golden"


def keys(bibtex: str) -> list[str]:
    return [line.partition("{")[2].rstrip(",") for line in bibtex.splitlines() if line.startswith("@")]


def test_the_corpora_of_a_view_are_cited(sample: Path) -> None:
    shown = run("cite", "bi.turns", "--db", sample)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout == (GOLDEN / "citation.bib").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_corpus_or_the_view_of_one_is_cited_and_talkhouse_if_asked_for(sample: Path, tmp_path: Path) -> None:
    (tmp_path / RELEASES).mkdir()  # a folder that is no package does not hide a corpus
    for words, expected in (
        ([POSTS, "--with-talkhouse"], [POSTS, "talkhouse"]),
        ([f"{RELEASES}.breakdown_detection_eval"], [RELEASES]),
        ([RELEASES], [RELEASES]),
    ):
        assert keys(run("cite", *words, "--db", sample, cwd=tmp_path).stdout) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("form", "name"), [("csl", "citation.json"), ("text", "citation.txt")])
def test_other_formats(sample: Path, form: str, name: str) -> None:
    assert run("cite", "turns", "--db", sample, "--format", form).stdout == (GOLDEN / name).read_text(encoding="utf-8")


@pytest.mark.slow
def test_nothing_acts_on_a_terminal_or_a_pipe(tmp_path: Path) -> None:
    described = tmp_path / "odd.csv.manifest.json"
    corpus = {"corpus_id": "odd", "title": "Odd \x1b[31m\u202e", "citation": "\x07 \u200b"}
    described.write_text(json.dumps({"corpora": [corpus], "build": {"talkhouse_version": "1"}}))
    for form in ("bibtex", "csl", "text"):
        shown = on_a_terminal(["cite", described, "--format", form], tmp_path)
        shown += run("cite", described, "--format", form).stdout
        assert "Odd" in shown or form == "text"
        assert not {"\x1b", "\u202e", "\x07", "\u200b"} & {*shown}


@pytest.mark.slow
def test_an_export_is_cited_without_its_warehouse(sample: Path, tmp_path: Path) -> None:
    run("export", "main.records", "--db", sample, "--output", tmp_path / "rows.csv")
    expected = (GOLDEN / "citation.bib").read_text(encoding="utf-8")
    for name in ("rows.csv", "rows.csv.manifest.json"):
        assert run("cite", name, cwd=tmp_path, env={"TALKHOUSE_DB": "gone.duckdb"}).stdout == expected
    folder = tmp_path / "package"
    folder.mkdir()
    shutil.move(tmp_path / "rows.csv.manifest.json", folder / "manifest.json")
    assert run("cite", "package", cwd=tmp_path).stdout == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "code", "words"),
    [
        ("dbcd3", None, 2, ["no corpus, view or table 'dbcd3'", f"one of: {RELEASES}", "talkhouse status"]),
        ("nothing_alike", None, 2, [f"one of: {SUGGESTIONS}, {RELEASES}, {GROUPS}, {POSTS}, {PICTURES}\n"]),
        ("gone/rows.csv", None, 2, ["gone/rows.csv: there is no such file or folder"]),
        ("a" * 5000, None, 2, ["there is no such file or folder", "File name too long"]),
        ("", None, 2, ["there is no manifest of an export"]),
        ("./rows.csv", "a,b\n", 2, ["there is no manifest of an export", "rows.csv.manifest.json"]),
        ("a.manifest.json", "{", 1, ["a.manifest.json: this is not a manifest", "damaged"]),
        ("a.manifest.json", "\ufffd\x00", 1, ["this is not a manifest"]),
        ("a.manifest.json", "{}", 1, ["missing required field `corpora`"]),
        ("a.manifest.json", '{"corpora": [{"corpus_id": "A}", "title": ""}], "build": {}}', 1, ["corpus_id"]),
        ("a.manifest.json", '{"corpora": 7}', 1, ["Expected `array`, got `int`"]),
        (
            "a.manifest.json",
            '{"corpora": [], "build": {"talkhouse_version": "1"}}',
            2,
            ["json has no rows of a corpus"],
        ),
    ],
)
def test_bad_names_and_manifests_get_one_message(
    sample: Path, tmp_path: Path, name: str, content: str | None, code: int, words: list[str]
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    shown = run("cite", name, "--db", sample, cwd=tmp_path)
    assert (shown.returncode, shown.stdout) == (code, "")
    assert shown.stderr.startswith("error: ")
    assert all(word in shown.stderr for word in words), shown.stderr


def test_a_manifest_of_any_size_takes_no_memory(sample: Path, tmp_path: Path) -> None:
    huge = tmp_path / "a.manifest.json"
    with huge.open("wb") as file:
        file.truncate(100_000_000_000)  # a hole, which has no blocks on the disk
    shown = run("cite", huge, "--db", sample)
    assert (shown.returncode, shown.stdout) == (1, "")
    assert "more than 64,000,000 bytes" in shown.stderr
