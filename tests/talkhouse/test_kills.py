"""Signals at instants of all phases: the old state or the new one, whole, and the next command clears what is left."""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import duckdb
import pytest

from talkhouse.ingest.files.skipped import DECLARATION, SCHEMA
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import sample_of
from talkhouse.lake_format.lake_manifest import is_whole, read
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import build
from talkhouse.search.search_index import make_index
from tests.commands import nothing, run
from tests.corpora.unusual import files_in
from tests.phases import Both, Trace, hit, instants
from tests.talkhouse.load.test_run import CORPUS, contents, fetch
from tests.talkhouse.search.test_updates import index_of
from tests.talkhouse.toy import declare

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
UNCHANGED = "interrupted; the published warehouse is unchanged"


@dataclass
class Case:
    """A command that makes a new state of an old one."""

    phases: str
    arguments: list[object]
    reset: Callable[[], object]
    """Makes the old state."""
    state: Callable[[], str]
    """Tells ``old`` or ``new``; fails for anything else."""
    before: Callable[[], object] = nothing
    is_replacing: bool = True
    """Whether it makes the new state of a new one, too."""
    interrupted: str = "interrupted"
    """The line that is printed at Ctrl-C."""
    hits: Counter[str] = field(default_factory=Counter)


def started(
    folder: Path, arguments: list[object], before: Callable[[], object] = nothing
) -> "subprocess.CompletedProcess[str]":
    return run(*arguments, cwd=folder, env={"TMPDIR": str(folder / "tmp")}, before=before)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two versions of a data folder, and a temporary folder of its own."""
    (tmp_path / "tmp").mkdir()
    for name in ("whole", "less"):
        shutil.copytree(sample_of(CORPUS), tmp_path / name / CORPUS.id)
    shutil.rmtree(sorted(path for path in (tmp_path / "less" / CORPUS.id).iterdir() if path.is_dir())[0])
    return tmp_path


def building(folder: Path, *arguments: object) -> Case:
    published, old = folder / "w.duckdb", folder / "old.duckdb"
    build(old, Silent(), data=folder / "whole")
    assert started(folder, list(arguments)).returncode == 0
    new = without_places(contents(published))
    return of_a_warehouse(Case("build", list(arguments), nothing, str, interrupted=UNCHANGED), published, old, new)


def of_a_warehouse(case: Case, published: Path, old: Path, new: dict[str, object]) -> Case:
    def reset() -> None:
        published.unlink(missing_ok=True)
        shutil.copy(old, published)

    def state() -> str:
        if published.read_bytes() == old.read_bytes():
            return "old"
        assert without_places(contents(published)) == new
        return "new"

    case.reset, case.state = reset, state
    return case


def without_places(found: dict[str, object]) -> dict[str, object]:
    """Leave out the table that names inodes and times, which differ from copy to copy."""
    return {name: value for name, value in found.items() if name != "meta.source_files"}


def a_build(folder: Path) -> Case:
    return building(folder, "build", "--data", "less", "--db", "w.duckdb")


def an_ingest(folder: Path) -> Case:
    return building(folder, "ingest", CORPUS.id, f"less/{CORPUS.id}", "--db", "w.duckdb")


def a_replay(folder: Path) -> Case:
    roots = declare(folder)
    (folder / "data" / "toy").mkdir(parents=True)
    (folder / "data" / "toy" / "a.txt").write_text("one\n!two\n?three\n")
    old = folder / "old.duckdb"
    build(old, Silent(), data=folder / "data", corpus_roots=roots, limit=QuarantineLimit("100%"))
    declare(folder, refused=r"\?")
    arguments: list[object] = ["replay", "--db", "w.duckdb", "--max-quarantine", "100%", "--corpora", "roots"]
    case = Case("replay", arguments, nothing, str, interrupted=UNCHANGED)
    published = folder / "w.duckdb"
    shutil.copy(old, published)
    assert started(folder, arguments).returncode == 0
    return of_a_warehouse(case, published, old, without_places(contents(published)))


def a_restore(folder: Path) -> Case:
    return making_a_folder(folder, "restore", ["restore", CORPUS.id])


def a_package(folder: Path) -> Case:
    return making_a_folder(folder, "package", ["export", CORPUS.id, "--for", "huggingface", "--accept-terms"])


def making_a_folder(folder: Path, phases: str, command: list[object]) -> Case:
    build(folder / "w.duckdb", Silent(), data=folder / "less")
    output = folder / "out"
    arguments: list[object] = [*command, "--output", "out", "--db", "w.duckdb"]
    assert started(folder, arguments).returncode == 0
    whole = files_in(output)

    def state() -> str:
        if not output.exists():
            return "old"
        assert files_in(output) == whole
        return "new"

    return Case(phases, arguments, partial(shutil.rmtree, output, ignore_errors=True), state, is_replacing=False)


def a_verify(folder: Path) -> Case:
    build(folder / "w.duckdb", Silent(), data=folder / "less")
    published = (folder / "w.duckdb").read_bytes()

    def state() -> str:
        assert (folder / "w.duckdb").read_bytes() == published
        return "new"

    return Case("verify", ["verify", "--db", "w.duckdb"], nothing, state)


def exporting(folder: Path, phases: str, output: Path, first: list[object], then: list[object]) -> Case:
    build(folder / "w.duckdb", Silent(), data=folder / "less")
    beside = output.with_name(f"{output.name}.manifest.json")
    found = []
    for arguments in (first, then):
        assert started(folder, arguments).returncode == 0
        found.append({path: path.read_bytes() for path in (output, beside) if path.exists()})
    old, new = found

    def reset() -> None:
        for path, content in old.items():
            path.write_bytes(content)

    def state() -> str:
        if beside.exists():
            assert json.loads(beside.read_text())["sha256"] == hashlib.sha256(output.read_bytes()).hexdigest()
        assert output.read_bytes() in (old[output], new[output])
        return "old" if output.read_bytes() == old[output] else "new"

    return Case(phases, then, reset, state)


def an_export(folder: Path) -> Case:
    arguments: list[object] = ["export", "turns", "--output", "rows.csv", "--db", "w.duckdb", "--force"]
    return exporting(folder, "export", folder / "rows.csv", [*arguments, "--limit", "3"], arguments)


def an_export_for_superset(folder: Path) -> Case:
    arguments: list[object] = ["export", "--for", "superset", "--output", "b.zip", "--db", "w.duckdb", "--force"]
    there = ["--db-path", "/srv/there.duckdb"]
    return exporting(folder, "superset", folder / "b.zip", [*arguments, *there], arguments)


def a_lake(folder: Path) -> Case:
    for name in ("less", "whole"):
        build(folder / f"{name}.duckdb", Silent(), data=folder / name)
    assert started(folder, ["lake", "lake", "--db", "less.duckdb"]).returncode == 0
    shutil.copytree(folder / "lake", folder / "old")
    case = of_a_lake(folder, "snapshot-2")

    def reset() -> None:
        shutil.rmtree(folder / "lake", ignore_errors=True)
        shutil.copytree(folder / "old", folder / "lake")

    case.reset = reset
    return case


def a_first_lake(folder: Path) -> Case:
    build(folder / "whole.duckdb", Silent(), data=folder / "whole")
    case = of_a_lake(folder, "snapshot-1")
    case.reset = partial(shutil.rmtree, folder / "lake", ignore_errors=True)
    return case


def of_a_lake(folder: Path, new: str) -> Case:
    """Write a lake, whose new state is a snapshot of this name."""
    lake, arguments = folder / "lake", ["lake", "lake", "--db", "whole.duckdb"]
    assert started(folder, [*arguments]).returncode == 0
    expected = {path: content for path, content in files_in(lake / new).items() if path.endswith(".parquet")}

    def state() -> str:
        if not (lake / "manifest.json").exists():
            return "old"
        current = read(lake)
        assert all(is_whole(file, lake) for table in current.tables for file in table.files)
        if current.snapshot != new:
            return "old"
        found = files_in(lake / new)
        assert {path: content for path, content in found.items() if path.endswith(".parquet")} == expected
        if not list(lake.glob(".*")):  # it was not killed
            assert {path.name for path in lake.iterdir()} <= {"manifest.json", "snapshot-1", "snapshot-2"}
        return "new"

    return Case("lake", [*arguments], nothing, state, interrupted="interrupted; the lake is as it was")


def a_new_declaration(folder: Path) -> Case:
    (folder / "kitchen").mkdir()
    messages = [{"role": "user", "content": "Tea?"}, {"role": "assistant", "content": "Please."}]
    records = (json.dumps({"id": str(number), "messages": messages}) for number in range(500))
    (folder / "kitchen" / "train.jsonl").write_text("\n".join(records))
    target = folder / "kitchen" / "corpus.toml"
    assert started(folder, ["new", "kitchen"]).returncode == 0
    whole = target.read_text()

    def state() -> str:
        if not target.exists():
            return "old"
        assert target.read_text() == whole
        return "new"

    def reset() -> None:
        target.unlink(missing_ok=True)
        target.with_name(SCHEMA).unlink(missing_ok=True)

    return Case("new", ["new", "kitchen"], reset, state, is_replacing=False)


def a_saved_run(folder: Path) -> Case:
    build(folder / "w.duckdb", Silent(), data=folder / "whole")
    (corpus_id, task), *_ = fetch(
        folder / "w.duckdb", "select distinct corpus_id, task from main.examples order by all"
    )
    arguments: list[object] = ["score", f"{corpus_id}.{task}", "--baseline", "random", "--db", "w.duckdb", "--save"]
    query = f"select release, split from main.examples where task = '{task}' order by all limit 1"
    ((release, split),) = fetch(folder / "w.duckdb", query)
    arguments[2:2] = ["--split", split, *(["--release", release] if release else [])]
    done = started(folder, [*arguments, "first"])
    assert done.returncode == 0, done.stderr
    saved, old = folder / "scores.duckdb", folder / "old.scores"
    shutil.copy(saved, old)

    def state() -> str:
        with duckdb.connect(saved, read_only=True) as con:
            runs = [name for (name,) in con.execute("select run from runs order by all").fetchall()]
            counts = con.execute("select count(*) from metrics group by run").fetchall()
        assert (len(counts), len({*counts})) == (len(runs), 1)
        assert runs == ["first", "second"] or saved.read_bytes() == old.read_bytes()
        return "new" if len(runs) == 2 else "old"

    return Case("save", [*arguments, "second"], partial(shutil.copy, old, saved), state, is_replacing=False)


def a_note(folder: Path) -> Case:
    build(folder / "w.duckdb", Silent(), data=folder / "whole")
    ((dialogue,),) = fetch(folder / "w.duckdb", "select min(dialogue_id) from main.dialogues")
    arguments: list[object] = ["notes", "--db", "w.duckdb", "--add", dialogue, "--label"]
    done = started(folder, [*arguments, "first"])
    assert done.returncode == 0, done.stderr
    notes, old = folder / "notes.duckdb", folder / "old.notes"
    shutil.copy(notes, old)

    def state() -> str:
        with duckdb.connect(notes, read_only=True) as con:
            labels = [label for (label,) in con.execute("select label from notes order by note_id").fetchall()]
        assert labels == ["first", "second"] or notes.read_bytes() == old.read_bytes()
        return "new" if len(labels) == 2 else "old"

    return Case("notes", [*arguments, "second"], partial(shutil.copy, old, notes), state, is_replacing=False)


def an_index(folder: Path) -> Case:
    """A ranked search after a build, which brings the index up to date."""
    path, old = folder / "w.duckdb", folder / "old.index"
    build(path, Silent(), data=folder / "whole")
    index = make_index(path, lambda _: None)
    os.link(index, old)
    path.chmod(0o600)
    with duckdb.connect(path) as con:
        con.execute("delete from main.turns where dialogue_id = (select min(dialogue_id) from main.turns)")
    arguments: list[object] = ["search", "--rank", "a", "--db", "w.duckdb"]
    assert started(folder, arguments).returncode == 0
    new = index_of(path)

    def reset() -> None:
        index.unlink()
        os.link(old, index)  # it is known by its inode

    def state() -> str:
        assert index.samefile(old) or index_of(path) == new
        return "old" if index.samefile(old) else "new"

    return Case("search", arguments, reset, state)


CASES = (
    *(a_lake, a_first_lake, a_build, an_ingest, a_replay, a_restore, a_verify, an_export, an_export_for_superset),
    *(a_package, a_new_declaration, a_saved_run, a_note, an_index),
)


def shuffled(number: int) -> list[signal.Signals]:
    signals = list(islice(cycle(SIGNALS), number))
    random.Random(7).shuffle(signals)  # noqa: S311 - the same order every time
    return signals


@pytest.mark.parametrize(
    ("make", "signals"),
    [
        *(
            pytest.param(make, (signal.SIGKILL, SIGNALS[1 + place % 2]), id=make.__name__, marks=pytest.mark.slow)
            for place, make in enumerate(CASES)
        ),
        *(
            pytest.param(make, shuffled(number), id=f"{make.__name__}-{number}", marks=pytest.mark.long)
            for make in CASES
            for number in (500 if make is a_build else 60,)
        ),
    ],
)
def test_a_signal_leaves_the_old_or_the_new(
    folder: Path, make: Callable[[Path], Case], signals: Sequence[signal.Signals]
) -> None:
    case, trace = make(folder), folder / "trace"
    case.reset()
    assert started(folder, case.arguments, Both(case.before, Trace(case.phases, trace))).returncode == 0
    for instant, sent in zip(instants(trace, len(signals)), signals, strict=True):
        case.reset()
        done = started(folder, case.arguments, Both(case.before, Trace(case.phases, trace, sent, instant)))
        phase = hit(trace)
        case.hits[f"{sent.name} {phase}"] += 1
        where = f"{sent.name} in {phase}, {instant}: {done.returncode}\n{done.stderr}"
        check_end(case, sent, phase, done, where)
        if done.returncode >= 0:
            assert left_behind(folder) == [], where
        if not case.is_replacing:
            case.reset()
        again = started(folder, case.arguments, case.before)
        assert again.returncode == 0, f"{where}\nand then\n{again.stderr}"
        assert case.state() == "new", where
        assert left_behind(folder) == [], where
    print(f"\n{make.__name__}: {dict(sorted(case.hits.items()))}")


def check_end(
    case: Case, sent: signal.Signals, phase: str | None, done: "subprocess.CompletedProcess[str]", where: str
) -> None:
    assert "Traceback" not in done.stderr, where
    state = case.state()
    if done.returncode == 0:
        assert phase is None or sent == signal.SIGINT, where
        assert state == "new", where
    elif sent == signal.SIGINT:
        assert done.returncode == 130, where
        lines = [line for line in done.stderr.splitlines() if "interrupted" in line]
        assert lines == done.stderr.splitlines()[-1:], where
        assert lines in ([case.interrupted], ["interrupted"]), where
        assert case.interrupted not in lines or case.interrupted == "interrupted" or state == "old", where
    else:
        assert done.returncode == -sent, where


def left_behind(folder: Path) -> list[str]:
    hidden = (path for pattern in (".*", "lake/.*", "kitchen/.*") for path in folder.glob(pattern))
    found = (*hidden, *(folder / "tmp").iterdir())
    return [str(path) for path in found if not (path.name == SCHEMA and path.with_name(DECLARATION).exists())]
