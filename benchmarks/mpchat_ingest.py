"""A whole ingest of a speaker-identification file in MPChat's shape and size, beside ``json.load`` on the same file.

    uv run python -m benchmarks.mpchat_ingest [--scale 1.0] [--repeat 5]

Each run is a process of its own, the two kinds in turn; of the ingest the whole command is measured, of the
other ``json.load`` alone. The peak is the process's largest resident set.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.command import ingest
from benchmarks.memory import peak
from benchmarks.mpchat_shape import Inventor

MEMORY = 600
"""Megabytes above the file's size that an ingest may take."""


def load(source: Path) -> float:
    """Parse the file with the standard library; returns the number of dialogues."""
    with source.open("rb") as stream:
        return float(sum(map(len, json.load(stream).values())))


def measure(kind: str, source: Path, folder: Path) -> dict[str, float]:
    """Run one kind in a process of its own: seconds of it, processor seconds, peak megabytes, result."""
    if kind == "ingest":
        return ingest("mpchat", source, folder / "warehouse.duckdb")
    command = [sys.executable, "-m", "benchmarks.mpchat_ingest", "--load", str(source)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def run(source: Path) -> None:
    """Be the process in which the standard library parses the file."""
    begun = time.perf_counter()
    result = load(source)
    seconds = time.perf_counter() - begun
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"seconds": seconds, "cpu": used.ru_utime + used.ru_stime, "peak": peak(), "result": result}))


def compare(scale: float, repeat: int) -> None:
    """Invent a file, and read it both ways in turn."""
    with tempfile.TemporaryDirectory() as name:
        folder, inventor = Path(name), Inventor(scale)
        source, tiny = folder / "mpchat_si.json", folder / "tiny" / "mpchat_si.json"
        inventor.file(source)
        tiny.parent.mkdir()
        Inventor(0.0001).file(tiny)
        rounds = [{kind: measure(kind, source, folder) for kind in ("ingest", "load")} for _ in range(repeat)]
        fixed = statistics.median(measure("ingest", tiny, folder)["process"] for _ in range(repeat))
        size = source.stat().st_size / 1e6
    middle = {
        kind: {name: statistics.median(one[kind][name] for one in rounds) for name in rounds[0][kind]}
        for kind in rounds[0]
    }
    ratio = statistics.median(one["ingest"]["process"] / one["load"]["seconds"] for one in rounds)
    processor = statistics.median(one["ingest"]["cpu"] / one["load"]["cpu"] for one in rounds)
    over = max(one["ingest"]["peak"] for one in rounds) - size
    print(json.dumps({"megabytes": size, **middle}, indent=2))
    print(
        f"whole ingest: {ratio:.2f} times json.load alone, {fixed:.2f} s of it whatever the size (median of {repeat})"
    )
    print(f"processor time: {processor:.2f} times json.load's process")
    print(f"memory above the file's size: {over:.0f} MB of {MEMORY} allowed")
    print(f"warehouse: {middle['ingest']['result']:.0f} MB, 1/{size / middle['ingest']['result']:.0f} of the file")


def main() -> None:
    """Measure, or (``--run``) be the process that is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="1.0: 15,000 dialogues, about 470 MB")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--load", type=Path, metavar="FILE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.load:
        run(arguments.load)
    else:
        compare(arguments.scale, arguments.repeat)


if __name__ == "__main__":
    main()
