"""Files that several processes read: the same rows as by one, whichever is done first, is killed or reads again."""

import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import pytest

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.declared.declaration import of_folder
from talkhouse.ingest.declared.toml_corpus import DeclaredReader
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.keys import Ledger, Memory
from talkhouse.ingest.loading import load_corpus as loading
from talkhouse.ingest.loading import workers
from talkhouse.ingest.loading.load_corpus import load_corpus
from talkhouse.ingest.loading.workers import Processes, Task
from talkhouse.ingest.outcomes import Outcome
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.ingest.sources import SourceFile
from talkhouse.load.request import QuarantineLimit, declared_beside
from talkhouse.load.run import build, ingest
from talkhouse.schema.errors import BuildFailed, CorpusFailed, SourceError, TooMuchQuarantined
from talkhouse.system.memory import usual_readers
from tests.conftest import wait_for
from tests.declared.invented_corpora import HEAD, Invented, corpus, laid_out
from tests.declared.test_kit import cases_in
from tests.declared.test_whole_builds import invented
from tests.samples import RELEASES
from tests.talkhouse.load.test_faults import small_disk  # noqa: F401 - a fixture
from tests.talkhouse.load.test_run import contents, fetch

ALL = QuarantineLimit("100%")
CHAT = f"""{HEAD}format = "chat"
[dialogue]
id = "id"
[turn]
speaker = "who"
[[files]]
path = "**/*.jsonl"
"""


@pytest.fixture(autouse=True)
def _however_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "LEAST", 0)
    monkeypatch.setattr(loading, "TOGETHER", 0)


def talk(native_id: str, *texts: str | None, who: str = "Ann", **more: object) -> str:
    messages = [{"role": "user", "who": who, **({"content": text} if text else {})} for text in texts]
    return json.dumps({"id": native_id, "messages": messages, **more}) + "\n"


def talks(data: Path) -> Path:
    """Write files; the later ones have ids, words and people of those before."""
    files = {
        "a.jsonl": talk("1", "Hi") + talk("2", "Soup?", who="Bo") + "{\n",
        "b.jsonl": talk("1", "Ho") + talk("3", "Yes.") + talk("1", "Hi"),
        "c/a.jsonl": talk("1", "Ho") + talk("1", "Hey", who="Cy") + talk("4", "No."),
        "d.jsonl": "no JSON\n" + talk("5", "Well.", mood="calm") + talk("7", "Ah", None),
        "e.jsonl": talk("5", "Well.") + talk("2", "Soup?", who="Bo") + talk("8", None),
        "notes.txt": "nothing of it",
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        members = {"a.jsonl": talk("1", "Hi"), "b.jsonl": talk("6", "Oh"), "../c.jsonl": "", "d.txt": ""}
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    raw = {name: text.encode() for name, text in files.items()} | {"c.zip": packed.getvalue()}
    laid_out({"talks": Invented(CHAT, raw, {})}, data)
    return data


def rows(path: Path, data: Path, jobs: int) -> dict[str, object]:
    build(path, Silent(), data=data, limit=ALL, jobs=jobs)
    return contents(path)


Read = tuple[Path, dict[str, object]]
"""A data folder, and the rows that one process reads it to."""


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Read:
    folder = tmp_path_factory.mktemp("few")
    data = talks(folder / "data")
    return data, rows(folder / "one.duckdb", data, 1)


def test_two_processes_read_to_the_same_rows(few: Read, tmp_path: Path) -> None:
    data, expected = few
    assert rows(tmp_path / "two.duckdb", data, 2) == expected
    findings = "select rule, count(*) from meta.findings where corpus_id = 'talks' group by all order by all"
    assert fetch(tmp_path / "two.duckdb", findings) == [("GF-04", 2), ("GF-22", 1), ("TH-01", 2), ("TH-05", 3)]
    assert [path.name for path in tmp_path.iterdir()] == ["two.duckdb"]


# The same rows.


def in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have parts taken as it comes, not by their numbers; some have two files."""
    chance = random.Random(7)  # noqa: S311 - any order

    def taken(waiting: list[int]) -> int:
        return waiting.pop(chance.randrange(len(waiting)))

    monkeypatch.setattr(workers, "heappop", taken)
    monkeypatch.setattr(workers, "heappush", list.append)
    monkeypatch.setattr(loading, "_AHEAD", 10**12)
    monkeypatch.setattr(loading, "TOGETHER", 400_000)


def everything_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every part but the first read again, knowing all that those before have told."""
    contested, is_first = Ledger.contested, True

    def needed(known: Ledger, by: Ledger) -> Ledger:
        nonlocal is_first
        found = Ledger(known.keys, known.rows) if is_first and known else contested(known, by)
        is_first = not found
        return found

    monkeypatch.setattr(Ledger, "contested", needed)


def every_corpus(folder: Path) -> Path:
    """Write corpora of every format and kind: invented, the kit's, lines of them in two files, and one in Python."""
    laid_out(invented(corpus), folder)
    for case in cases_in(Path(__file__).parents[2] / "declared" / "kit"):
        shutil.copytree(case.folder / "data" / case.corpus_id, folder / case.corpus_id)
        in_two(folder / case.corpus_id)
    shutil.copytree(sample_of(corpora()[RELEASES]), folder / RELEASES)
    return talks(folder)


def in_two(folder: Path) -> None:
    """Cut files of lines in two where the declaration names them; both halves have the line in the middle."""
    page = folder / "corpus.toml"
    for path in [path for path in folder.rglob("*.jsonl") if path.name in page.read_text()]:
        lines = path.read_bytes().splitlines(keepends=True)
        middle = len(lines) // 2
        (path.parent / f"{path.stem}.1.jsonl").write_bytes(b"".join(lines[: middle + 1]))
        (path.parent / f"{path.stem}.2.jsonl").write_bytes(b"".join(lines[middle:]))
        path.unlink()
        page.write_text(page.read_text().replace(path.name, f"{path.stem}.*.jsonl"))


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> Read:
    folder = tmp_path_factory.mktemp("jobs")
    data = every_corpus(folder / "data")
    return data, rows(folder / "one.duckdb", data, 1)


@pytest.mark.parametrize(
    ("jobs", "how"),
    [
        pytest.param(7, everything_again, marks=pytest.mark.slow),
        pytest.param(2, in_any_order, marks=pytest.mark.slow),
        pytest.param(7, in_any_order, marks=pytest.mark.long),
        pytest.param(2, everything_again, marks=pytest.mark.long),
    ],
)
def test_any_number_of_processes_read_every_format_to_the_same_rows(
    every: Read, how: Callable[[pytest.MonkeyPatch], None], jobs: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data, expected = every
    how(monkeypatch)
    found = rows(tmp_path / "w.duckdb", data, jobs)
    assert {name for name in expected if found[name] != expected[name]} == set()


@pytest.mark.slow
def test_without_what_files_before_have_told_the_rows_would_be_others(
    few: Read, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Ledger, "contested", lambda *_: Ledger())
    with pytest.raises(Exception, match="checks failed"):
        rows(tmp_path / "two.duckdb", few[0], 2)


@pytest.mark.slow
def test_a_file_that_stands_among_those_of_an_archive_is_read_in_its_place(tmp_path: Path) -> None:
    data = talks(tmp_path / "data")
    (data / "talks" / "c.zip!b.jsonl0.jsonl").write_text(talk("6", "Ah"))
    assert rows(tmp_path / "two.duckdb", data, 2) == rows(tmp_path / "one.duckdb", data, 1)


@pytest.mark.slow
def test_small_files_are_worth_processes_and_go_several_to_a_task(
    few: Read, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (data, expected), submit, tasks = few, Processes.submit, set[int]()

    def counted(self: Processes, number: int, task: Task) -> None:
        tasks.add(number)
        submit(self, number, task)

    monkeypatch.setattr(Processes, "submit", counted)
    monkeypatch.setattr(loading, "LEAST", 900_000)
    monkeypatch.setattr(loading, "TOGETHER", 400_000)
    assert rows(tmp_path / "two.duckdb", data, 2) == expected
    assert len(tasks) == 4  # of five files and an archive of two


@pytest.mark.slow
def test_ingest_takes_several_processes_too(tmp_path: Path) -> None:
    folder = talks(tmp_path / "data") / "talks"
    found = []
    for jobs in (1, 2):
        path, declaration = tmp_path / f"{jobs}.duckdb", declared_beside("talks", [folder])
        ingest(path, Silent(), "talks", [folder], limit=ALL, jobs=jobs, declaration=declaration)
        found.append(contents(path))
    assert found[0] == found[1]


# What goes wrong.


@pytest.fixture
def published(tmp_path: Path) -> Iterator[Path]:
    """A warehouse of one of the files; it must stay as it is, with no file next to it."""
    laid_out({"talks": Invented(CHAT, {"a.jsonl": talk("0", "Old").encode()}, {})}, tmp_path / "old")
    build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "old")
    shutil.rmtree(tmp_path / "old")
    before = (tmp_path / "w.duckdb").read_bytes()
    yield tmp_path / "w.duckdb"
    assert (tmp_path / "w.duckdb").read_bytes() == before
    assert list(tmp_path.glob(".*")) == []


def killed(monkeypatch: pytest.MonkeyPatch, number: int, times: int) -> None:
    """Kill the process that has the task of a number, so many times."""
    hand_out, pids = Processes._hand_out, set[int | None]()

    def then_kill(self: Processes) -> None:
        hand_out(self)
        for worker in self._workers:
            if worker.number == number and len(pids) < times and worker.process.pid not in pids:
                pids.add(worker.process.pid)
                worker.process.kill()

    monkeypatch.setattr(Processes, "_hand_out", then_kill)


@pytest.mark.slow
def test_a_task_whose_process_is_killed_is_repeated(few: Read, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    killed(monkeypatch, 3, 2)
    assert rows(tmp_path / "two.duckdb", few[0], 2) == few[1]


@pytest.mark.slow
def test_a_process_that_is_killed_again_and_again_is_named(
    published: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data = talks(tmp_path / "data")
    killed(monkeypatch, 4, 3)
    with pytest.raises(BuildFailed, match=r"d\.jsonl: the process that read[\s\S]*SIGKILL, 3 times[\s\S]*--jobs 1"):
        build(published, Silent(), data=data, limit=ALL, jobs=2)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "nth"), [(4, 1), (1, 2)], ids=["read", "read again"])
def test_a_file_that_changes_before_it_is_read(
    published: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: int, nth: int
) -> None:
    data = talks(tmp_path / "data")
    submit, path, seen = Processes.submit, data / "talks" / ("d.jsonl" if number == 4 else "b.jsonl"), [0]

    def change(self: Processes, submitted: int, task: Task) -> None:
        seen[0] += submitted == number
        if submitted == number and seen[0] == nth:
            shutil.copyfile(path, tmp_path / "other")
            (tmp_path / "other").replace(path)
        submit(self, submitted, task)

    monkeypatch.setattr(Processes, "submit", change)
    with pytest.raises(SourceError, match="the file changed while it was read"):
        build(published, Silent(), data=data, limit=ALL, jobs=2)
    assert seen[0] >= nth


@pytest.mark.slow
def test_too_much_in_quarantine_is_told_as_by_one_process(published: Path, tmp_path: Path) -> None:
    data, messages = talks(tmp_path / "data"), set()
    for jobs in (1, 2):
        with pytest.raises(TooMuchQuarantined, match="of 1") as caught:
            build(published, Silent(), data=data, jobs=jobs)
        messages.add(str(caught.value))
    assert len(messages) == 1


@pytest.mark.slow
def test_a_pattern_without_a_file_is_told_before_anything_is_read(published: Path, tmp_path: Path) -> None:
    data = talks(tmp_path / "data")
    with (data / "talks" / "corpus.toml").open("a") as page:
        page.write('[[files]]\npath = "gone.json"\n')
    with pytest.raises(Exception, match=r"no file fits the pattern .gone\.json."):
        build(published, Silent(), data=data, limit=ALL, jobs=2)


@pytest.mark.slow
def test_a_disk_that_is_full_is_told_as_by_one_process(small_disk: Path, tmp_path: Path) -> None:  # noqa: F811
    folder = talks(tmp_path / "data") / "talks"
    for number in range(6):
        (folder / f"{number}.jsonl").write_text("".join(talk(f"{number}/{id_}", "So! " * 900) for id_ in range(800)))
    (small_disk / "filler").write_bytes(bytes(30_000_000))
    with pytest.raises(BuildFailed, match=r"the published warehouse is unchanged[\s\S]*make room"):
        build(small_disk / "w.duckdb", Silent(), data=tmp_path / "data", limit=ALL, jobs=2)
    assert [path.name for path in small_disk.iterdir()] == ["filler"]


@dataclass(frozen=True)
class Faulty(DeclaredReader):
    """Raises for two files, for the second one first."""

    folder: Path

    def corpus(self) -> Corpus:
        """Return the corpus, read by this reader."""
        return replace(super().corpus(), parts=self)

    def read(self, files: list[SourceFile], memory: Memory) -> Iterator[Outcome]:
        """Raise ValueError."""
        for file in files:
            if file.name == "d.jsonl":
                (self.folder / "raised").touch()
                raise ValueError("the second")
            if file.id == "talks/b.jsonl":
                while not (self.folder / "raised").exists():
                    time.sleep(0.01)
                raise ValueError("the first")
        yield from super().read(files, memory)


@pytest.mark.slow
def test_of_two_errors_the_first_by_file_is_told(sample: Path, tmp_path: Path) -> None:
    folder = talks(tmp_path / "data") / "talks"
    path = Path(shutil.copyfile(sample, tmp_path / "w.duckdb"))
    reader = Faulty(of_folder(folder), tmp_path)
    with duckdb.connect(path) as con, Processes(2, tmp_path) as some:
        files = disk_files(folder, "talks")
        with pytest.raises(CorpusFailed, match=r"b\.jsonl[\s\S]*the first"):
            load_corpus(con.cursor, reader.corpus(), files, lambda *_: None, is_sample=False, workers=some)
        assert not some._workers


class Counted(Silent):
    """A progress that adds up."""

    def __init__(self) -> None:
        self.records = self.size = 0

    def advance(self, records: int, size: int = 0) -> None:
        """Add."""
        self.records += records
        self.size += size


@pytest.mark.slow
def test_progress_counts_each_record_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    data, first, two = talks(tmp_path / "data"), Counted(), Counted()
    build(tmp_path / "one.duckdb", first, data=data, limit=ALL)
    everything_again(monkeypatch)
    build(tmp_path / "two.duckdb", two, data=data, limit=ALL, jobs=2)
    assert (two.records, two.size) == (first.records, first.size)


@pytest.mark.slow
def test_a_dry_run_shows_the_same(tmp_path: Path) -> None:
    data = talks(tmp_path / "data")
    first, two = (
        build(tmp_path / "w.duckdb", Silent(), data=data, limit=ALL, jobs=jobs, dry_run=True).inventory
        for jobs in (1, 2)
    )
    assert first == two
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


# The command, and what ends it.

SCRIPT = """
import os, time
from pathlib import Path
from talkhouse.ingest.loading import load_corpus, workers
load_corpus.LEAST = load_corpus.TOGETHER = 0
result, start, left = workers.Processes.result, workers.Processes._start, int(os.environ["HELD_AT"])
def started(self):
    worker = start(self)
    with open("pids", "a") as stream:
        stream.write(f"{worker.process.pid}\\n")
    return worker
def held(self, number):
    global left
    left -= 1
    if left == 0:
        Path("reached").touch()
        time.sleep(600)
    return result(self, number)
workers.Processes._start, workers.Processes.result = started, held
from talkhouse.cli import main
main()
"""


def started(folder: Path, held_at: int = 0) -> "subprocess.Popen[str]":
    """Start a build by two processes that waits for the nth result for ever."""
    arguments = ["build", "--data", "data", "--db", "w.duckdb", "--max-quarantine", "100%", "--jobs", "2"]
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *arguments],
        cwd=folder,
        env={**os.environ, "HELD_AT": str(held_at)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def is_alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def end(folder: Path, held_at: int, how: signal.Signals, after: float = 0) -> "subprocess.Popen[str]":
    """Send a signal to a build while it waits for a result; its processes end as well."""
    for name in ("reached", "pids"):
        (folder / name).unlink(missing_ok=True)
    process = started(folder, held_at)
    wait_for(folder / "reached", process)
    assert (folder / ".w.duckdb.build").stat().st_mode & 0o077 == 0
    time.sleep(after)
    if how == signal.SIGINT:
        os.killpg(process.pid, how)  # as a terminal does
    else:
        process.send_signal(how)
    process.wait(timeout=300)
    while any(map(is_alive, (folder / "pids").read_text().split())):
        time.sleep(0.05)
    return process


@pytest.mark.slow
def test_ctrl_c_ends_all_processes_with_one_line(published: Path, tmp_path: Path) -> None:
    talks(tmp_path / "data")
    process = end(published.parent, 3, signal.SIGINT)
    assert process.stderr is not None
    errors = process.stderr.read()
    assert process.returncode == 130, errors
    assert "interrupted; the published warehouse is unchanged" in errors
    assert "Traceback" not in errors


@pytest.mark.slow
def test_after_a_killed_build_the_next_one_is_as_if_there_had_been_none(few: Read, tmp_path: Path) -> None:
    check_kills(few, tmp_path, [(1, 0), (8, 0)])


@pytest.mark.long
def test_after_a_hundred_killed_builds_the_next_one_is_as_if_there_had_been_none(few: Read, tmp_path: Path) -> None:
    chance = random.Random()  # noqa: S311 - another each time
    check_kills(few, tmp_path, [(chance.randint(1, 8), chance.random()) for _ in range(100)])


def check_kills(few: Read, folder: Path, instants: list[tuple[int, float]]) -> None:
    shutil.copytree(few[0], folder / "data", copy_function=os.link)  # the same files, by their inodes
    for held_at, after in instants:
        end(folder, held_at, signal.SIGKILL, after)
        assert not (folder / "w.duckdb").exists()
    assert started(folder).wait(timeout=300) == 0
    assert contents(folder / "w.duckdb") == few[1]
    assert list(folder.glob(".*")) == []


@pytest.mark.parametrize(
    ("cores", "memory", "expected"), [(1, None, 1), (2, None, 1), (8, None, 4), (64, None, 8), (64, "3000000000", 3)]
)
def test_half_of_the_cores_read_unless_memory_is_short(
    cores: int, memory: str | None, expected: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text(memory or "max\n")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    monkeypatch.setattr("talkhouse.system.memory._CONTAINER", (limit,))
    monkeypatch.setattr(os, "sysconf", lambda _: 10**6)
    assert usual_readers() == expected
