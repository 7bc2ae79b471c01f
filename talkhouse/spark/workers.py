"""Has the cores of a cluster work on tasks: Spark sends each to a Python process that has Talkhouse, too."""

import pickle
import platform
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version as installed
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any, Self

from talkhouse import ingest, queries, schema
from talkhouse.ingest.loading.workers import Advance, Task, outcome
from talkhouse.schema.errors import SparkFailed, UsageError
from talkhouse.settings import version
from talkhouse.spark.sessions import check_version, first_line
from talkhouse.system.cache import code_of, key_of

if TYPE_CHECKING:
    from pyarrow.lib import RecordBatch
    from pyspark.sql import SparkSession

_LEAST = 2
"""Tasks at a time: while one is sent, another is done."""

_PROBES = 2
"""Questions for each core: where one is slow to start, others have its share."""


class SparkWorkers:
    """The Python processes of a session's executors, as ``Workers``; use it in a ``with``.

    Where an executor dies, Spark repeats its task. What a task raises is returned and raised here, so that Spark does
    not try it again.
    """

    def __init__(self, spark: "SparkSession", folder: Path) -> None:
        """``folder``: where tasks may write; every worker sees it under this path."""
        check_version(spark)
        self._spark, self.folder = spark, folder
        self._count_cores()
        self._running: dict[int, tuple[Task, Future[Any]]] = {}
        self._reported = set[int]()
        self._advance: Advance = lambda *_: None

    def _count_cores(self) -> None:
        """Work on as many tasks as there are cores; a range has as many partitions, unless configured otherwise."""
        partitions = self._spark.range(1_000_000).selectExpr("spark_partition_id() AS core").distinct().count()
        self.count = max(partitions, _LEAST)
        self._threads = ThreadPoolExecutor(self.count)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Cancel what is not done, and wait until nothing of it runs."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        if any(not future.done() for _, future in self._running.values()):
            with suppress(Exception):  # whatever a session that is gone raises
                self._spark.interruptAll()
        self._threads.shutdown()

    @contextmanager
    def working(self, advance: Advance) -> Iterator[None]:
        """Number the tasks from 0, and call ``advance`` as they are done."""
        self._running, self._reported, self._advance = {}, set(), advance
        yield

    def submit(self, number: int, task: Task) -> None:
        """Have a task done, behind those that were submitted before."""
        self._running[number] = (task, self._threads.submit(self._run, pickle.dumps(task)))

    def result(self, number: int) -> Any:
        """Return the result of a task, once it is there, or raise what it raised; SparkFailed where Spark gives up."""
        task, future = self._running[number]
        try:
            result, records, size = future.result()
        except Exception as error:  # PySpark, py4j and gRPC have their own
            raise SparkFailed(
                "Spark gave up this task; nothing was published",
                where=task,
                found=first_line(error),
                next_step="see the log of the executor; if it was killed for its memory, give executors more",
            ) from error
        del self._running[number]
        if number not in self._reported:  # what is read again is no progress
            self._reported.add(number)
            self._advance(records, size)
        if isinstance(result, Exception):
            raise result
        return result

    def _run(self, task: bytes) -> Any:
        (answer,) = self._done(task, 1)
        return answer

    def _done(self, task: bytes, times: int) -> list[Any]:
        """Have a task done by as many partitions of one row, whose answers come back."""
        # Not as a row: how a client sends those depends on the versions of both sides.
        rows = self._spark.range(0, times, 1, times).mapInArrow(partial(_work, task), "answer binary")
        return [pickle.loads(answer) for answer in rows.toArrow()["answer"].to_pylist()]  # noqa: S301 - our own tasks'

    def check(self, *folders: Path) -> None:
        """Raise UsageError where a worker has another Talkhouse, or does not see the folders as they are here."""
        from pyspark.errors import PySparkException

        stamps = {folder: folder.stat().st_mtime_ns for folder in folders}
        probe = pickle.dumps(_Probe(self.folder, stamps, _made_of()))
        try:
            answers = self._done(probe, self.count * _PROBES)
        except PySparkException as error:
            raise UsageError(
                "Spark's workers can't run Talkhouse",
                expected=f"Talkhouse {version()} in the Python {platform.python_version()} of every worker",
                found=next((line for line in str(error).splitlines() if "Error: " in line), first_line(error)).strip(),
                next_step="install it there, and name that Python in PYSPARK_PYTHON",
            ) from error
        for problem, *_ in answers:
            if problem is not None:
                raise problem
        self._count_cores()  # by now all executors have had the time to come


def _work(task: bytes, rows: "Iterable[RecordBatch]") -> "Iterator[RecordBatch]":
    """Do a task, in a process of Spark's; return its outcome, and how many records and bytes it has read."""
    from pyarrow.lib import RecordBatch, array, binary

    for _ in rows:
        done = [0, 0]

        def advance(records: int, size: int, done: list[int] = done) -> None:
            done[0] += records
            done[1] += size

        result = outcome(pickle.loads(task), advance)  # noqa: S301 - what the command has sent
        yield RecordBatch.from_arrays([array([pickle.dumps((result, *done))], binary())], ["answer"])


def _made_of() -> str:
    """Hash what decides how a file is read: Talkhouse's code, and the libraries below it."""
    return key_of(version(), code_of(schema, ingest, queries), *map(installed, ("duckdb", "polars", "pyarrow")))


@dataclass(frozen=True)
class _Probe:
    """What a worker has to be asked before it is given anything."""

    writable: Path
    stamps: dict[Path, int]
    made_of: str

    def __call__(self, _: Advance) -> None:
        """Raise UsageError for a worker that would read otherwise, or elsewhere."""
        host = gethostname()
        if _made_of() != self.made_of:
            raise UsageError(
                f"the worker on {host} has another Talkhouse, or other versions of its libraries",
                found=f"Talkhouse {version()}, DuckDB {installed('duckdb')}, Polars {installed('polars')}",
                next_step="install the same on every worker, and name its Python in PYSPARK_PYTHON",
            )
        for folder, stamp in self.stamps.items():
            try:
                found = "another folder" if folder.stat().st_mtime_ns != stamp else ""
            except OSError as error:
                found = str(error)
            if found:
                raise UsageError(
                    f"the worker on {host} does not see this folder",
                    where=folder,
                    found=found,
                    next_step="name one that all machines share, under the same path everywhere",
                )
        try:
            (self.writable / f"{host}.probe").touch()
        except OSError as error:
            raise UsageError(
                f"the worker on {host} can't write to the lake",
                where=self.writable,
                found=str(error),
                next_step="have the workers run as the user of this command, on a disk that all machines share",
            ) from error
