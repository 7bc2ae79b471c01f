"""A whole ingest of 300 MB of talks with frames and spans by a corpus of one's own, beside ``json.load`` of its files.

    uv run python -m benchmarks.frames_ingest [--scale 1.0] [--repeat 5]

The corpus is ``benchmarks/service_talks``, begun by ``talkhouse new corpus --like json-list``. Each run is a process of
its own, the two kinds in turn; of the ingest the whole command is measured, of the other ``json.load`` alone.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.command import ingest
from benchmarks.frames_shape import Inventor
from benchmarks.memory import peak

BAR = 4
"""Times the processor time of ``json.load``."""
CORPUS = Path(__file__).with_name("service_talks")


def load(folder: Path) -> None:
    """Be the process in which the standard library parses the files, one after the other."""
    begun, cpu = time.perf_counter(), time.process_time()
    talks = 0
    for path in sorted(folder.rglob("*.json")):
        with path.open("rb") as stream:
            talks += len(json.load(stream))
    used = {"seconds": time.perf_counter() - begun, "cpu": time.process_time() - cpu, "peak": peak(), "result": talks}
    print(json.dumps(used))


def measure(kind: str, folder: Path, warehouse: Path) -> dict[str, float]:
    """Run one kind in a process of its own: processor seconds, peak megabytes, result."""
    if kind == "ingest":
        return ingest(CORPUS.name, folder, warehouse)
    command = [sys.executable, "-m", "benchmarks.frames_ingest", "--load", str(folder)]
    result: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return result


def compare(scale: float, repeat: int) -> None:
    """Invent the files, and read them both ways in turn."""
    os.environ["TALKHOUSE_CORPORA"] = str(CORPUS)
    with tempfile.TemporaryDirectory() as name:
        folder, warehouse = Path(name) / CORPUS.name, Path(name) / "w.duckdb"
        Inventor(scale).folder(folder)
        size = sum(path.stat().st_size for path in folder.rglob("*.json")) / 1e6
        rounds = [{kind: measure(kind, folder, warehouse) for kind in ("ingest", "load")} for _ in range(repeat)]
    middle = {
        kind: {name: statistics.median(one[kind][name] for one in rounds) for name in rounds[0][kind]}
        for kind in rounds[0]
    }
    print(json.dumps({"megabytes": size, **middle}, indent=2))
    ratio = statistics.median(one["ingest"]["cpu"] / one["load"]["cpu"] for one in rounds)
    print(f"processor time of the whole ingest: {ratio:.2f} times json.load's (bar: {BAR}; median of {repeat})")


def main() -> None:
    """Measure, or (``--load``) be the process that is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="1.0: 17,000 talks, about 300 MB")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--load", type=Path, metavar="DIR", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.load:
        load(arguments.load)
    else:
        compare(arguments.scale, arguments.repeat)


if __name__ == "__main__":
    main()
