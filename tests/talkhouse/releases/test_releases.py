"""Releases: what is made is what comes back, nothing is written twice, and nothing half is ever seen."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.load.run import build
from talkhouse.migrations import head
from talkhouse.releases import manifest
from talkhouse.releases.checkout import checkout, find, resolve
from talkhouse.releases.create import Created, ReleaseRequest, create
from talkhouse.releases.deposit import export, listed, prune
from talkhouse.releases.objects import differs, verify
from talkhouse.releases.store import held, read
from talkhouse.schema.errors import (
    CheckFailed,
    OutputFailed,
    ReleaseDamaged,
    TalkhouseError,
    TermsNotAccepted,
    UsageError,
    WarehouseLocked,
)
from talkhouse.warehouse.content_ids import contents_of
from tests.commands import COMMAND, run
from tests.samples import GROUPS, RELEASES

TASK = f"{RELEASES}.breakdown_detection"

KEYS = [
    *("format", "name", "note", "created_at", "content_id", "previous", "talkhouse_version", "schema_revision"),
    *("catalogue_hash", "duckdb_version", "corpora", "sources", "checks", "quarantined", "tables", "tasks", "frame"),
]


def new_release(store: Path, warehouse: Path, name: str, **options: Any) -> Created:
    return create(store, warehouse, ReleaseRequest(name, **options))


@pytest.fixture(scope="module")
def shared_store(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one release of the sample, to be copied."""
    # A copy: what is known of the sample itself would come into the manifests of other tests.
    folder = tmp_path_factory.mktemp("kept")
    new_release(
        folder / "store", Path(shutil.copyfile(sample, folder / "talkhouse.duckdb")), "2026-11", note="as in the paper"
    )
    return folder / "store"


@pytest.fixture
def store(shared_store: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(shared_store, tmp_path / "store"))


def files(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_ino for path in folder.rglob("*") if path.is_file()}


def test_what_is_released_comes_back_and_nothing_is_written_twice(warehouse: Path, store: Path, tmp_path: Path) -> None:
    before = files(store)
    data = json.loads((store / "releases/2026-11/release.json").read_text())
    assert [*data] == KEYS
    assert (store / "releases/2026-11/release.json").stat().st_mode & 0o777 == 0o444
    ends = {*(table["file"].rpartition("-")[2] for table in data["tables"])}
    assert ends == {f"{table['rows_hash'][:32]}.parquet" for table in data["tables"]}
    assert new_release(store, warehouse, "2026-12").data["previous"] == {
        "name": "2026-11",
        "content_id": data["content_id"],
    }
    assert {path for path, inode in files(store).items() if before.get(path) != inode} == {
        "releases/2026-12/release.json",
        "releases/2026-12/release.json.sha256",
    }
    assert verify(store, "2026-11") == []
    output = tmp_path / "back.duckdb"
    checkout(read(store, "2026-11"), output)
    assert output.stat().st_mode & 0o777 == 0o444
    hashes = []
    for path in (warehouse, output):
        with duckdb.connect(path, read_only=True) as con:
            hashes.append(contents_of(con, path.stem))
    assert hashes[0] == hashes[1]
    assert hashes[0].content_id == data["content_id"]
    with pytest.raises(OutputFailed, match="a release never changes"):
        new_release(store, warehouse, "2026-11")


@pytest.mark.slow
def test_the_next_build_of_a_checkout_takes_what_has_not_changed(tmp_path: Path) -> None:
    for name in (RELEASES, GROUPS):
        shutil.copytree(sample_of(corpora()[name]), tmp_path / "data" / name)
    warehouse, store = tmp_path / "w.duckdb", tmp_path / "store"
    build(warehouse, Silent(), data=tmp_path / "data")
    new_release(store, warehouse, "first")
    checkout(read(store, "first"), warehouse, force=True)
    assert not build(warehouse, Silent(), data=tmp_path / "data").plan.load
    chosen = next((tmp_path / "data" / GROUPS).rglob("[0-9]*-*"))
    chosen.unlink()
    result = build(warehouse, Silent(), data=tmp_path / "data")
    assert [item.corpus.id for item in result.plan.load] == [GROUPS]
    second = new_release(store, warehouse, "second")
    changed = {table["corpus"] for table in second.data["tables"]} - {RELEASES}
    assert second.new < sum(table["corpus"] in changed for table in second.data["tables"])
    assert second.new_bytes is not None
    of_corpus = sum(table["bytes"] for table in second.data["tables"] if table["corpus"] in changed)
    assert second.new_bytes <= of_corpus + 100_000
    assert [row["own_bytes"] > 0 for row in listed(store)] == [True, True]


@pytest.mark.slow
@pytest.mark.parametrize(
    "what", ["missing", "other size", "other bytes", "other rows", "not of this release's content_id"]
)
def test_what_is_damaged_is_named_and_never_opened(store: Path, tmp_path: Path, what: str) -> None:
    folder = store / "releases/2026-11"
    data = json.loads((folder / "release.json").read_text())
    entry = next(table for table in data["tables"] if table["table"] == "main.turns")
    path, named = store / "objects" / entry["file"], entry["file"]
    path.chmod(0o644)
    if what == "missing":
        path.unlink()
    elif what == "other size":
        path.write_bytes(path.read_bytes() + b"x")
    elif what == "other bytes":
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    else:
        if what == "other rows":
            with duckdb.connect() as con:
                con.execute(f"copy (from '{path}' offset 1) to '{tmp_path}/other.parquet'")
            shutil.copyfile(tmp_path / "other.parquet", path)
            entry["bytes"], entry["sha256"] = path.stat().st_size, sha256(path.read_bytes()).hexdigest()
        else:
            data["content_id"], named = "0" * 64, "release.json"
        for file in ("release.json", "release.json.sha256"):
            (folder / file).chmod(0o644)
        text = json.dumps(data).encode()
        (folder / "release.json").write_bytes(text)
        (folder / "release.json.sha256").write_text(f"{sha256(text).hexdigest()}  release.json\n")
    assert [str(problem) for problem in verify(store, "2026-11")] == [f"{named}: {what}"]
    environment = {"TALKHOUSE_RELEASES": str(store)}
    done = run("release", "verify", "2026-11", "--json", env=environment)
    assert (done.returncode, json.loads(done.stdout)) == (
        1,
        {"name": "2026-11", "ok": False, "problems": [f"{named}: {what}"]},
    )
    if what != "other rows":  # a checkout verifies bytes; who made these has changed the manifest too
        with pytest.raises(ReleaseDamaged):
            checkout(find("2026-11", store), tmp_path / "out.duckdb")
        assert run("status", "--db", "release:2026-11", env=environment).returncode == 1
        assert not (tmp_path / "out.duckdb").exists()


@pytest.mark.slow
def test_every_reading_command_opens_a_release_and_none_writes_to_it(
    store: Path, warehouse: Path, tmp_path: Path
) -> None:
    environment = {"TALKHOUSE_RELEASES": str(store)}
    commands: list[list[object]] = [
        *(
            ["status"],
            ["check"],
            ["findings"],
            ["views"],
            ["search", "museum"],
            ["show", f"{RELEASES}:CIC9001"],
            ["verify"],
        ),
        *(["sql", "select count(*) from main.turns"], ["cite", RELEASES], ["scores"]),
        ["export", TASK, "--output", tmp_path / "e.parquet"],
        ["lake", tmp_path / "lake"],
    ]
    for words in commands:
        done = run(*words, "--db", "release:2026-11", env=environment)
        assert done.returncode == 0, (words, done.stderr)
    for words in (["build"], ["ingest", RELEASES, tmp_path], ["replay"], ["release", "create", "other"]):
        done = run(*words, "--db", "release:2026-11", env=environment)
        assert (done.returncode, "a release never changes" in done.stderr) == (2, True), (words, done.stderr)
    first = resolve("2026-11", store)
    assert (first.stat().st_ino, first) == (resolve(str(store / "releases/2026-11")).stat().st_ino, first)
    assert differs(store, "2026-11", str(first)) == differs(store, "2026-11", str(warehouse)) == []


@pytest.mark.slow
def test_a_release_of_some_corpora_and_one_that_is_only_planned(warehouse: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    planned = new_release(store, warehouse, "some", corpora=(RELEASES,), dry_run=True)
    assert not store.exists()
    some = new_release(store, warehouse, "some", corpora=(RELEASES,))
    assert some.data["content_id"] == planned.data["content_id"] == some.data["corpora"][0]["content_id"]
    assert {table["corpus"] for table in some.data["tables"]} == {RELEASES, "shared"}
    assert [table["file"] for table in planned.data["tables"]] == [table["file"] for table in some.data["tables"]]
    checkout(read(store, "some"), tmp_path / "some.duckdb")
    assert run("check", "--db", tmp_path / "some.duckdb").returncode == 0
    with duckdb.connect(tmp_path / "some.duckdb", read_only=True) as con:
        assert con.execute("select corpus_id from main.corpora").fetchall() == [(RELEASES,)]


@pytest.mark.slow
def test_a_warehouse_that_fails_its_checks_is_not_released(warehouse: Path, tmp_path: Path) -> None:
    with duckdb.connect(warehouse) as con:
        con.execute("delete from main.turns where turn_index = 1")
    with pytest.raises(CheckFailed, match="nothing was released"):
        new_release(tmp_path / "store", warehouse, "broken")
    assert files(tmp_path / "store") == {}


@pytest.mark.slow
def test_a_file_of_another_size_is_written_again_only_if_asked_for(warehouse: Path, store: Path) -> None:
    path = next((store / "objects").glob(f"main.turns-{RELEASES}-*"))
    whole = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(whole[:-1])
    with pytest.raises(ReleaseDamaged, match="--repair"):
        new_release(store, warehouse, "again")
    new_release(store, warehouse, "again", repair=True)
    assert path.read_bytes() == whole
    assert verify(store, "2026-11") == verify(store, "again") == []


@pytest.mark.slow
def test_a_release_of_a_newer_talkhouse_is_not_called_damaged(store: Path, tmp_path: Path) -> None:
    path = store / "releases/2026-11/release.json"
    path.chmod(0o644)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 3, "created_at": 5, "tables": {}}))
    with pytest.raises(ReleaseDamaged, match="newer Talkhouse than this") as raised:
        checkout(find("2026-11", store), tmp_path / "out.duckdb")
    assert (raised.value.expected, raised.value.found) == ("format 2 or older", "format 3")
    done = run("release", "list", "--store", store)
    assert "newer Talkhouse" in done.stdout + done.stderr


@pytest.mark.slow
def test_pruning_goes_by_name_and_stops_at_damage(warehouse: Path, store: Path) -> None:
    new_release(store, warehouse, "some", corpora=(GROUPS,))
    with pytest.raises(UsageError, match="--keep"):
        prune(store, [])
    with pytest.raises(UsageError, match="no release 'none'"):
        prune(store, ["none"])
    planned = prune(store, ["some"], dry_run=True)
    assert (store / "releases/2026-11").exists()
    damaged = next((store / "objects").glob(f"main.turns-{GROUPS}-*"))
    content = damaged.read_bytes()
    damaged.chmod(0o644)
    damaged.write_bytes(content[:-1])
    with pytest.raises(ReleaseDamaged):
        prune(store, ["some"])
    assert (store / "releases/2026-11").exists()
    damaged.write_bytes(content)
    (store / "objects" / "somebody.txt").write_text("stays")
    assert prune(store, ["some"]) == planned
    assert planned.releases == ["2026-11"]
    assert verify(store, "some") == []
    assert {path.name for path in (store / "objects").iterdir()} == {
        *(file.file for file in read(store, "some").release.files),
        "somebody.txt",
    }


@pytest.mark.slow
def test_an_archive_is_the_same_each_time_and_is_a_store(licensed: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    new_release(store, Path(shutil.copyfile(licensed, tmp_path / "talkhouse.duckdb")), "v1.2")
    with pytest.raises(TermsNotAccepted):
        export(read(store, "v1.2"), tmp_path / "a.zip", is_accepted=False, force=False)
    for name in ("a.zip", "b.zip"):
        export(read(store, "v1.2"), tmp_path / name, is_accepted=True, force=False)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with ZipFile(tmp_path / "a.zip") as archive:
        assert archive.namelist() == sorted(archive.namelist())
        assert {info.date_time[0] for info in archive.infolist()} == {1980}
        archive.extractall(tmp_path / "deposit")
    assert {"CITATION.cff", "LICENCES.md"} <= {path.name for path in (tmp_path / "deposit").iterdir()}
    assert verify(tmp_path / "deposit", "v1.2") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["tables"][0].update(file="../../outside.parquet"),
        lambda data: data["tables"][0].update(table="main.turns where false; drop table main.turns; --"),
        lambda data: data["frame"].update(file="/etc/passwd"),
        lambda data: data.update(name="../other"),
        lambda data: data.update(format=2),
        lambda data: data.update(created_at="2026-99-99T00:00:00Z"),
        lambda data: data["corpora"][0].update(corpus_id="a b"),
        lambda data: data["tables"].append(data["tables"][0]),
    ],
)
def test_a_manifest_of_a_stranger_names_nothing_else(store: Path, change: Any) -> None:
    folder = store / "releases/2026-11"
    data = json.loads((folder / "release.json").read_text())
    change(data)
    shutil.rmtree(folder)
    folder.mkdir()
    text = json.dumps(data).encode()
    (folder / "release.json").write_bytes(text)
    (folder / "release.json.sha256").write_text(f"{sha256(text).hexdigest()}  release.json\n")
    assert [problem.file for problem in verify(store, "2026-11")] == [manifest.MANIFEST]
    with pytest.raises(ReleaseDamaged):
        resolve("2026-11", store)


@pytest.mark.slow
def test_links_and_frames_of_a_stranger_are_refused(store: Path, tmp_path: Path) -> None:
    folder = store / "releases/2026-11"
    data = json.loads((folder / "release.json").read_text())
    path = store / "objects" / data["tables"][0]["file"]
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert "link" in str(verify(store, "2026-11")[0])
    path.unlink()
    (tmp_path / "elsewhere").rename(path)
    frame = store / "objects" / data["frame"]["file"]
    frame.chmod(0o644)
    secret = tmp_path / "secret.csv"
    secret.write_text("a\nsecret\n")
    with duckdb.connect(frame) as con:
        con.execute(f"create or replace view {TASK} as from read_csv('{secret}')")
    data["frame"].update(bytes=frame.stat().st_size, sha256=sha256(frame.read_bytes()).hexdigest())
    _write(folder, data)
    checkout(find("2026-11", store), tmp_path / "read.duckdb", as_released=True)
    done = run("sql", f"from {TASK}", "--db", tmp_path / "read.duckdb")
    assert (done.returncode, "secret" in done.stdout) == (1, False)
    with duckdb.connect(frame) as con:
        con.execute(
            "create macro main.sha256(a) as 'planted'; insert into meta.rules values ('r', null, 's', 'c', 'r')"
        )
    data["frame"].update(bytes=frame.stat().st_size, sha256=sha256(frame.read_bytes()).hexdigest())
    _write(folder, data)
    with pytest.raises(ReleaseDamaged, match="not made by Talkhouse"):
        checkout(find("2026-11", store), tmp_path / "planted.duckdb")
    assert not (tmp_path / "planted.duckdb").exists()


def _write(folder: Path, data: Any) -> None:
    text = json.dumps(data).encode()
    for name in ("release.json", "release.json.sha256"):
        (folder / name).chmod(0o644)
    (folder / "release.json").write_bytes(text)
    (folder / "release.json.sha256").write_text(f"{sha256(text).hexdigest()}  release.json\n")


@pytest.mark.slow
def test_an_object_of_a_stranger_is_read_as_parquet_within_limits(store: Path, tmp_path: Path) -> None:
    folder = store / "releases/2026-11"
    data = json.loads((folder / "release.json").read_text())
    entry = next(table for table in data["tables"] if table["table"] == "main.turns")
    path = store / "objects" / entry["file"]
    path.chmod(0o644)
    with duckdb.connect() as con:
        con.execute(f"copy (select repeat('x', 200_000_000) as text) to '{tmp_path}/bomb.parquet' (compression zstd)")
    rows = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), pa.array(["x" * 5_000_000]))
    parquet.write_table(pa.table({"text": rows}), tmp_path / "repeated.parquet")
    bombs = [(tmp_path / name).read_bytes() for name in ("bomb.parquet", "repeated.parquet")]
    for content in (b"no parquet at all", *bombs):
        path.write_bytes(content)
        entry["bytes"], entry["sha256"] = len(content), sha256(content).hexdigest()
        _write(folder, data)
        (problem,) = verify(store, "2026-11")
        assert (problem.file, problem.what.startswith("can't be read")) == (entry["file"], True)
        with pytest.raises(ReleaseDamaged):
            checkout(find("2026-11", store), tmp_path / "out.duckdb")


OLD = sorted(Path(__file__).parent.glob("of-*.tar.xz"))
"""A store with one small release of each schema revision, made by a Talkhouse of that revision: add one with each."""


@pytest.mark.parametrize("store", [pytest.param(path, marks=pytest.mark.slow) for path in OLD])
def test_a_release_of_every_schema_is_read_by_every_command(store: Path, tmp_path: Path) -> None:
    name = store.name.partition(".")[0]
    shutil.unpack_archive(store, tmp_path / "releases", filter="data")
    assert verify(tmp_path / "releases", name) == []
    released = find(name, tmp_path / "releases")
    corpus = released.release.corpora[0].corpus_id
    task = next(item.task for item in released.release.tasks if item.task.endswith("probing_target"))
    for command in (
        *("status", "check", f"score {task} --baseline oracle --json", f"export {task} --output task.parquet"),
        *("lake lake", f"cite {corpus}", f"restore {corpus} --output restored", "overlap --output o.duckdb"),
    ):
        done = run(*command.split(), "--db", f"release:{name}", cwd=tmp_path)
        assert done.returncode == 0, (command, done.stderr)
    old = tmp_path / "old.duckdb"
    checkout(released, old, as_released=True)
    if store != OLD[-1]:
        refused = run("status", "--db", old)
        assert (refused.returncode, f"talkhouse migrate --db {old}" in refused.stderr) == (1, True), refused.stderr
    assert run("migrate", "--db", old).stdout in (f"Migrated {old}\n", f"Nothing to do for {old}\n")
    assert run("score", task, "--baseline", "oracle", "--db", old).returncode == 0
    assert run("migrate", "--db", old).stdout == f"Nothing to do for {old}\n"
    checkout(released, tmp_path / "out.duckdb")
    assert run("release", "export", name, "--output", "r.zip", cwd=tmp_path).returncode == 0
    done = run("diff", f"release:{name}", "out.duckdb", "--corpus", corpus, "--json", cwd=tmp_path)
    assert all(not table["removed"] and not table["added"] for table in json.loads(done.stdout)["tables"]), done.stdout
    assert f"of-{head()}.tar.xz" == OLD[-1].name


@pytest.mark.slow
def test_who_holds_the_store_is_named(warehouse: Path, store: Path) -> None:
    with held(store), pytest.raises(WarehouseLocked, match=f"process {os.getpid()} on "):
        new_release(store, warehouse, "next", wait=False)
    assert new_release(store, warehouse, "next", wait=False).new == 0


@pytest.mark.slow
def test_a_full_disk_leaves_nothing(warehouse: Path, tmp_path: Path) -> None:
    done = run("release", "create", "full", "--db", warehouse, before=allow_small_files)
    assert (done.returncode, "no room" in done.stderr) == (1, True), done.stderr
    assert files(tmp_path / "releases") == {}
    assert run("release", "create", "full", "--db", warehouse).returncode == 0


def allow_small_files() -> None:
    """Forbid the process to write files of more than 40 kB."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def _killed(warehouse: Path, store: Path, times: int) -> None:
    name = "killed"
    begun = time.monotonic()
    subprocess.run(
        [*COMMAND, "release", "create", "whole", "--db", warehouse, "--store", store], check=True, capture_output=True
    )
    whole = time.monotonic() - begun
    for number in range(times):
        words = [*COMMAND, "release", "create", f"{name}-{number}", "--db", warehouse, "--store", store]
        if number % 2:
            shutil.rmtree(store / "objects", ignore_errors=True)
            shutil.rmtree(store / "releases", ignore_errors=True)
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with_chance = (0.2 + 0.9 * (number * 37 % 100) / 100) * whole
        try:
            process.wait(with_chance)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for row in listed(store):
            assert verify(store, row["name"]) == []
    created = create(store, warehouse, ReleaseRequest("after"))
    assert verify(store, "after") == []
    assert not list(store.glob(".part-*"))
    prune(store, ["after"])
    assert len(list((store / "objects").iterdir())) == len({table["file"] for table in created.data["tables"]}) + 1


@pytest.mark.slow
def test_a_killed_process_leaves_no_release_or_a_whole_one(warehouse: Path, tmp_path: Path) -> None:
    _killed(warehouse, tmp_path / "store", 3)


@pytest.mark.long
def test_a_hundred_killed_processes_leave_no_release_or_whole_ones(warehouse: Path, tmp_path: Path) -> None:
    _killed(warehouse, tmp_path / "store", 100)


@pytest.mark.slow
def test_what_is_no_release_gets_one_message(store: Path, tmp_path: Path) -> None:
    for name in ("Upper", "../x", "", "a" * 65, ".hidden"):
        with pytest.raises(UsageError, match="can't be the name"):
            new_release(store, tmp_path / "none.duckdb", name)
    for name in ("missing", str(tmp_path / "nowhere")):
        with pytest.raises(TalkhouseError):
            resolve(name, store)


@pytest.mark.slow
def test_the_page_verifies_a_release_without_talkhouse(store: Path, tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "releases.md").read_text(encoding="utf-8")
    program = page.partition("<!-- audit -->\n```python\n")[2].partition("```")[0]
    audit = [sys.executable, "-c", program, store, "2026-11"]
    assert subprocess.run(audit, check=False, capture_output=True).returncode == 0
    turns = next((store / "objects").glob(f"main.turns-{RELEASES}-*"))
    with duckdb.connect() as con:
        con.execute(f"copy (from '{turns}' offset 1) to '{tmp_path}/other.parquet'")
    turns.unlink()
    shutil.copyfile(tmp_path / "other.parquet", turns)
    assert turns.name in subprocess.run(audit, check=False, capture_output=True, text=True).stderr


@pytest.mark.slow
def test_what_is_made_of_a_release_says_so(store: Path, tmp_path: Path) -> None:
    release = read(store, "2026-11")
    expected = {"release": "2026-11", "content_id": release.release.content_id}
    environment = {"TALKHOUSE_RELEASES": str(store)}

    def done(*words: object) -> str:
        finished = run(*words, "--db", "release:2026-11", env=environment)
        assert finished.returncode == 0, finished.stderr
        return finished.stdout

    described = json.loads(done("status", "--json"))
    assert {name: described[name] for name in expected} == expected
    done("export", TASK, "--split", "eval", "--output", tmp_path / "e.parquet")
    exported = json.loads((tmp_path / "e.parquet.manifest.json").read_text())
    assert (exported["talkhouse_release"], exported["content_id"]) == tuple(expected.values())
    tasks = {(task.release, task.split): task for task in release.release.tasks if task.task.startswith(f"{RELEASES}.")}
    for fingerprint in exported["view_fingerprints"]:
        task = tasks[fingerprint["release"], fingerprint["split"]]
        assert (fingerprint["rows_hash"], fingerprint["content_hash"]) == (task.rows_hash, task.content_hash)
    done("lake", tmp_path / "lake")
    manifest_of_lake = json.loads((tmp_path / "lake/manifest.json").read_text())
    assert {name: manifest_of_lake[name] for name in expected} == expected
    assert differs(store, "2026-11", str(tmp_path / "lake")) == []
    for tool in ("huggingface", "croissant"):
        done("export", TASK, "--for", tool, "--output", tmp_path / tool)
        assert expected["content_id"] in (tmp_path / tool / "manifest.json").read_text()
    croissant = json.loads(next((tmp_path / "croissant").glob("croissant*.json")).read_text())
    assert (croissant["version"], croissant["identifier"]) == ("2026-11", f"sha256:{expected['content_id']}")
    done("export", RELEASES, "--for", "convokit", "--output", tmp_path / "convokit")
    assert expected["content_id"] in next((tmp_path / "convokit").rglob("corpus.json")).read_text()
    cited = run("cite", "2026-11", "--format", "text", env=environment, cwd=tmp_path).stdout
    sentence = f"Talkhouse release 2026-11, content id {expected['content_id']}, release.json sha256 {release.sha256}"
    assert sentence in cited
    entries = run("cite", RELEASES, "--release", "2026-11", env=environment, cwd=tmp_path).stdout
    assert entries.count("version = {") == 2
    assert "@" in entries
    items = json.loads(run("cite", "2026-11", "--format", "csl", env=environment, cwd=tmp_path).stdout)
    assert {item["version"] for item in items} == {"2026-11", "Talkhouse release 2026-11"}


@pytest.mark.slow
def test_the_id_is_known_once_it_was_computed(warehouse: Path, shared_store: Path) -> None:
    expected = read(shared_store, "2026-11").release.content_id
    assert json.loads(run("status", "--json", "--db", warehouse).stdout)["content_id"] is None
    assert f"content id {expected}" in run("status", "--hash", "--db", warehouse).stdout
    assert json.loads(run("status", "--json", "--db", warehouse).stdout)["content_id"] == expected
    with duckdb.connect(warehouse) as con:
        con.execute("update main.turns set text = text || '!' where turn_index = 0")
    assert json.loads(run("status", "--json", "--db", warehouse).stdout)["content_id"] is None


@pytest.mark.slow
def test_the_id_of_a_declared_corpus_is_the_same_wherever_its_folder_lies(tmp_path: Path) -> None:
    ids = set()
    for place in ("one", "other"):
        folder = tmp_path / place / "data" / "kitchen"
        folder.mkdir(parents=True)
        (folder / "corpus.toml").write_text('title = "Kitchen"\nformat = "chat"\n')
        (folder / "a.jsonl").write_text('{"messages": [{"role": "user", "content": "Tea?"}]}\n')
        warehouse = tmp_path / place / "talkhouse.duckdb"
        run("build", "--data", folder.parent, "--db", warehouse)
        ids.add(json.loads(run("status", "--hash", "--json", "--db", warehouse).stdout)["content_id"])
    assert len(ids) == 1
