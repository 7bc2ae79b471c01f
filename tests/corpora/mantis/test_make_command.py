"""``talkhouse make`` as a command: what it prints, refuses and leaves behind."""

import json
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

import talkhouse
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.load.run import build
from tests.commands import COMMAND, run
from tests.corpora.mantis.dumps import InventedDump
from tests.corpora.mantis.test_make import talk
from tests.lanes import first_quick
from tests.test_docs import ROOT, check_part, commands

OTHER = next(name for name, corpus in corpora().items() if corpus.make is None)


def dump(folder: Path, talks: int) -> Path:
    whole = InventedDump()
    for number in range(talks):
        example = talk(10 * number + 1, day=1 + number % 28)
        whole.posts += example.posts
        whole.comments += example.comments
    return whole.write(folder / "travel")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.slow
def test_files_appear_all_at_once_and_a_dry_run_counts_the_same(tmp_path: Path) -> None:
    folder = dump(tmp_path, 20)
    counted = run("make", "mantis", folder, "--dry-run")
    done = run("make", "mantis", folder, "--negatives", "10", "--output", tmp_path / "made")
    assert (counted.returncode, done.returncode) == (0, 0)
    assert done.stdout.startswith(counted.stdout)
    assert "travel: 20 dialogues from 20 of 20 answers to 20 questions; threshold 0.17 (the authors')" in done.stdout
    assert "Wrote 10 files" in done.stdout
    assert len(contents(tmp_path / "made")) == 10
    again = run("make", "mantis", folder, "--output", tmp_path / "made")
    assert again.returncode == 2
    assert "the folder is not empty" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mantis", "DUMP"], "error: --output is missing\n"),
        ([OTHER, "DUMP"], f"error: nothing makes {OTHER}\n  expected: one of: mantis\n"),
        (["mantis", "DUMP", "--dry-run", "--threshold", "travel"], "error: --threshold is not SITE=X\n"),
        (["mantis", "DUMP", "--dry-run", "--negatives", "ten"], "error: --negatives is no list of numbers\n"),
        (
            ["mantis", "DUMP", "--dry-run", "--site", "diy", "--site", "dba"],
            "error: there is no dump of the site diy\n",
        ),
        (["mantis", "none", "--dry-run"], "error: none: there is no such file or folder\n"),
    ],
)
def test_wrong_use_is_one_message(tmp_path: Path, arguments: list[str], message: str) -> None:
    folder = dump(tmp_path, 1)
    shown = run("make", *[folder if word == "DUMP" else word for word in arguments], cwd=tmp_path)
    assert shown.returncode == 2
    assert shown.stderr.startswith(message)


@pytest.mark.parametrize(
    "kills",
    [
        pytest.param((signal.SIGINT, signal.SIGKILL), marks=pytest.mark.slow, id="interrupted, then killed"),
        pytest.param((signal.SIGKILL, signal.SIGINT), marks=pytest.mark.long, id="killed, then interrupted"),
    ],
)
def test_what_is_interrupted_leaves_no_output_and_can_be_repeated(
    tmp_path: Path, kills: tuple[signal.Signals, ...]
) -> None:
    command = [*COMMAND, "make", "mantis", str(dump(tmp_path, 2000)), "--jobs", "2", "--output", str(tmp_path / "made")]
    for kill, file in zip(kills, ("merged_train.json", "data_train_easy.tsv"), strict=True):
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        while process.poll() is None and not list(tmp_path.glob(f".*/{file}")):
            time.sleep(0.01)
        process.send_signal(kill)
        shown, errors = process.communicate()
        assert (process.returncode, shown) == ({signal.SIGINT: 130, signal.SIGKILL: -9}[kill], "")
        assert errors == ("interrupted\n" if kill == signal.SIGINT else "")
        assert not (tmp_path / "made").exists()
    subprocess.run([*command[:-1], str(tmp_path / "made"), "--negatives", "none"], check=True, capture_output=True)
    assert len(contents(tmp_path / "made")) == 4
    assert not [path for path in tmp_path.iterdir() if path.is_dir() and path.name not in ("made", "travel")]


# The page on making the corpus shows what its commands print.


def test_the_corpus_is_made_as_its_page_shows(tmp_path: Path, regen: bool) -> None:
    page = ROOT / "docs" / "mantis-from-source.md"
    shutil.copytree(ROOT / "docs" / "dumps", tmp_path / "docs" / "dumps")
    shown = {}
    for command in commands(page.read_text(encoding="utf-8")):
        words = shlex.split(command)[3:]
        done = run(*words, cwd=tmp_path, env={"COLUMNS": "110"})
        assert done.returncode == 0, done.stderr
        shown[words[0]] = done.stdout
    assert "10 files compared" in shown["verify"]
    assert "10 equal" in shown["verify"]
    for name in ("make", "sql"):
        check_part(page, name, f"```text\n{shown[name]}```\n", regen)


# A manifest.json next to the files: that of Talkhouse names their sources; any other is an ordinary file.

KIND = "made by talkhouse make mantis"


@pytest.mark.parametrize(
    ("text", "made_from"),
    first_quick(
        [
            (json.dumps({"kind": KIND, "made_from": "dumps of x", "sites": {"x": {}}}), "dumps of x"),
            (json.dumps({"kind": "other"}), None),
            (json.dumps({"kind": KIND, "made_from": "\ud800", "sites": {}}), None),
            ("[" * 200_000, None),
            ("no JSON", None),
        ]
    ),
    ids=["ours", "other", "half a pair", "deep", "no JSON"],
)
def test_only_ours_says_what_the_files_were_made_from(tmp_path: Path, text: str, made_from: str | None) -> None:
    folder = tmp_path / "data" / "mantis"
    shutil.copytree(sample_of(corpora()["mantis"]), folder)
    (folder / "manifest.json").write_text(text)
    build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data")
    with talkhouse.open(tmp_path / "w.duckdb") as con:
        assert con.execute("select made_from from main.corpora").fetchall() == [(made_from,)]
        unknown = con.execute("select count(*) from meta.findings where rule = 'TH-05'").fetchone()
        assert unknown == (int(made_from is None),)
