"""A megabyte of chats more in a large corpus: what is brought up to date, compared with everything made from nothing.

    python -m benchmarks.scenarios.nights FOLDER [KEEP NIGHTS]

adds a file to the corpus in a folder, and prints what each command took. With KEEP, it starts a corpus of small files,
adds one a night, removes those that are older than so many nights, and prints a line a night: processor seconds, and
the size of the warehouse; every thirtieth night that of a build from nothing, too.
"""

import json
import resource
import shutil
import subprocess
import sys
import time
from functools import partial
from itertools import count
from pathlib import Path

from benchmarks.scenario import TALKHOUSE, Case, Scenario, module
from benchmarks.scenarios.own import CHAT_PAGE, Inventor, write_lines

_MEGABYTES = 6
"""Of each file that is there from the beginning."""


def _case(files: int, folder: Path) -> Case:
    corpus = _started(folder)
    for number in range(files):
        _write(corpus, number, _MEGABYTES)
    _all(folder, "before", folder)
    sides = (
        module("Talkhouse, a megabyte more", __name__, folder),
        module("Talkhouse, from nothing", __name__, folder, "new", writes=folder / "new"),
    )
    return Case(sides, files * _MEGABYTES)


SCENARIO = Scenario(
    name="nights",
    title="A megabyte of chats more, by command",
    cases={f"{files * _MEGABYTES} MB": partial(_case, files) for files in (50, 5)},
    quick=("30 MB",),
    measure="cpu",
    notes=("A release, a lake and an index of other files are made from nothing too: whole commands.",),
)


def _started(folder: Path) -> Path:
    corpus = folder / "data" / "own_talks"
    corpus.mkdir(parents=True)
    (corpus / "corpus.toml").write_text(CHAT_PAGE)
    return corpus


def _write(corpus: Path, number: int, megabytes: float) -> None:
    inventor = Inventor(number)
    write_lines(corpus / f"{number:05}.jsonl", megabytes, inventor.named, number * 1_000_000)


def _all(folder: Path, name: str, place: Path) -> dict[str, dict[str, float]]:
    """Run the commands of a night whose files are written to a place; return what each took."""
    warehouse = place / "w.duckdb"
    place.mkdir(exist_ok=True)
    commands = {
        "build": ("build", "--data", folder / "data", "--db", warehouse),
        "release": ("release", "create", name, "--store", place / "releases", "--db", warehouse),
        "lake": ("lake", place / "lake", "--db", warehouse),
        "search --rank": ("search", "--rank", "hello", "--limit", "1", "--db", warehouse),
    }
    return {name: _run(*arguments) for name, arguments in commands.items()}


def _run(*arguments: str | Path) -> dict[str, float]:
    begun, before = time.perf_counter(), _processor_seconds()
    subprocess.run([*TALKHOUSE, *map(str, arguments)], check=True, capture_output=True)
    return {"seconds": time.perf_counter() - begun, "cpu": _processor_seconds() - before}


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def nights(folder: Path, keep: int, most: int) -> None:
    """Add a file a night, and print what the build took and how large the warehouse is."""
    corpus, warehouse = _started(folder), folder / "w.duckdb"
    for night in range(most):
        _write(corpus, night, 1)
        (corpus / f"{night - keep:05}.jsonl").unlink(missing_ok=True)
        took = _run("build", "--data", folder / "data", "--db", warehouse)
        line = {"night": night + 1, "cpu": took["cpu"], "MB": warehouse.stat().st_size / 1e6}
        if night % 30 == 29 or night == most - 1:
            other = folder / "from_nothing.duckdb"
            _run("build", "--data", folder / "data", "--db", other)
            line["from nothing, MB"] = other.stat().st_size / 1e6
            other.unlink()
        print(json.dumps(line), flush=True)


def main(folder: Path, *arguments: str) -> None:
    """Run what the arguments say."""
    if len(arguments) == 2:
        nights(folder, *map(int, arguments))
    elif arguments:
        shutil.rmtree(folder / "new", ignore_errors=True)
        print(json.dumps(_all(folder, "night", folder / "new")))
    else:
        number = next(
            number for number in count(1000) if not (folder / "data/own_talks" / f"{number:05}.jsonl").exists()
        )
        _write(folder / "data" / "own_talks", number, 1)
        print(json.dumps(_all(folder, f"night-{number}", folder)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
