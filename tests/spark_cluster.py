"""A Spark cluster of the tests' own: a standalone master and workers on loopback, from PySpark's own jars."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

_JVM = ("-Xmx512m", "-XX:TieredStopAtLevel=1")
_PLACE = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
_WAIT = 120


def java() -> str:
    found = shutil.which("java")
    if not found:
        pytest.skip("install Java (on Debian: apt-get install openjdk-17-jre-headless)")
    return found


def _home() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent


class _Process:
    """A master or a worker, with its log."""

    def __init__(self, name: str, folder: Path, *arguments: str) -> None:
        """Start it; the class that runs comes from its name."""
        self.log = folder / f"{name}.log"
        kind = name.rstrip("0123456789")
        program = f"org.apache.spark.deploy.{kind}.{kind.capitalize()}"
        environment = {**os.environ, "SPARK_HOME": str(_home()), "SPARK_LOCAL_IP": "127.0.0.1"}
        environment |= {"SPARK_LOCAL_DIRS": str(folder), "SPARK_SCALA_VERSION": "2.13"}
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                [java(), *_JVM, "-cp", f"{_home()}/jars/*", program, *_PLACE, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=folder,
            )

    def logged(self, pattern: str) -> re.Match[str]:
        """Wait for a line of the log."""
        end = time.monotonic() + _WAIT
        while not (found := re.search(pattern, self.log.read_text())):
            if self._process.poll() is not None or time.monotonic() > end:
                pytest.fail(f"{self.log.stem} has not said {pattern}: {self.log.read_text()[-2000:]}")
            time.sleep(0.05)
        return found

    def kill(self) -> None:
        """Kill it and the executors that it has started, as a machine dies, and wait until they are gone."""
        try:
            found = psutil.Process(self._process.pid)
            family = [*found.children(recursive=True), found]
        except psutil.NoSuchProcess:
            family = []
        for process in family:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.wait()
        psutil.wait_procs(family, timeout=_WAIT)


class Cluster:
    """A master, and workers with one core and 1 GB each."""

    def __init__(self, folder: Path) -> None:
        """Start the master."""
        self.folder = folder
        self.workers: list[_Process] = []
        self._master = _Process("master", folder)
        self.url = self._master.logged(r"Starting Spark master at (spark://\S+)")[1]

    def add_workers(self, number: int) -> None:
        """Start workers, and wait until the master knows them."""
        started = []
        for _ in range(number):
            name = f"worker{len(self.workers) + 1}"
            arguments = ["--cores", "1", "--memory", "1g", "--work-dir", str(self.folder / name), self.url]
            started.append(_Process(name, self.folder, *arguments))
            self.workers.append(started[-1])
        for worker in started:
            worker.logged("Successfully registered with master")

    @property
    def log(self) -> str:
        """What the master has said."""
        return self._master.log.read_text()

    def stop(self) -> None:
        """Leave no process behind."""
        for process in (*self.workers, self._master):
            process.kill()


@contextmanager
def running(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    cluster = Cluster(folder)
    try:
        cluster.add_workers(workers)
        yield cluster
    finally:
        cluster.stop()
