"""Memory of the decoder on one single JSON object of any size, beside ``json.load`` on the same file.

    uv run python -m benchmarks.decode_memory --megabytes 300

Each reading runs in a process of its own; the peak is the process's largest resident set, interpreter included.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from msgspec import UNSET, Struct, UnsetType

from benchmarks.memory import peak


class Utterance(Struct, forbid_unknown_fields=True):
    """An utterance of the invented file."""

    actor_type: str
    utterance: str
    utterance_pos: int
    votes: str | UnsetType = UNSET


class Talk(Struct, forbid_unknown_fields=True):
    """A dialogue of the invented file."""

    category: str
    title: str
    utterances: list[Utterance]


def invent(path: Path, megabytes: float) -> int:
    """Write one JSON object of invented dialogues, keyed "0", "1" ...; gives their number."""
    syllables = ("ba", "ke", "mo", "tu", "ri", "é", "lan", "do", "sh", "\n")
    words = [first + second for first in syllables for second in syllables]
    chance = random.Random(11)
    number = 0
    with path.open("w", encoding="utf-8") as stream:
        stream.write("{")
        while stream.tell() < megabytes * 1e6:
            utterances = [
                {
                    "actor_type": "user" if position % 2 else "agent",
                    "utterance": " ".join(chance.choices(words, k=80)),
                    "utterance_pos": position,
                    "votes": str(chance.randrange(9)),
                }
                for position in range(1, 7)
            ]
            talk = {"category": "toys", "title": f"talk {number}", "utterances": utterances}
            stream.write(("," if number else "") + f'"{number}":' + json.dumps(talk, ensure_ascii=False))
            number += 1
        stream.write("}")
    return number


def stream(path: Path) -> int:
    """Read the file as a corpus does: bytes, members, typed records; gives the number of dialogues."""
    from talkhouse.ingest import decode
    from talkhouse.ingest.files.disk_files import disk_files
    from talkhouse.ingest.json_members import views
    from talkhouse.ingest.sources import opened

    found = 0
    with opened(disk_files(path, "toys")) as ([file], _):
        for _, piece in views(file.read()):
            found += bool(decode.record(bytes(piece), Talk, rule="XX-01").value.utterances)
    return found


def load(path: Path) -> int:
    """Read the file with the standard library; gives the number of dialogues."""
    with path.open("rb") as opened_file:
        return len(json.load(opened_file))


def measure(how: str, path: Path) -> dict[str, float]:
    """Run one way of reading in a process of its own: seconds, peak megabytes, dialogues."""
    command = [sys.executable, "-m", "benchmarks.decode_memory", "--read", how, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def compare(megabytes: float) -> dict[str, dict[str, float]]:
    """Invent a file and read it both ways; the file's own size is under 'file'."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "talks.json"
        number = invent(path, megabytes)
        size = path.stat().st_size / 1e6
        found = {how: measure(how, path) for how in ("stream", "load")}
    return {"file": {"megabytes": size, "dialogues": number}, **found}


def main() -> None:
    """Measure, or (``--read``) be the process that is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=300)
    parser.add_argument("--read", nargs=2, metavar=("HOW", "FILE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.read:
        found = compare(arguments.megabytes)
        print(json.dumps(found, indent=2))
        print(f"time: {found['stream']['seconds'] / found['load']['seconds']:.2f} of json.load's")
        print(f"memory above the file's size: {found['stream']['peak'] - found['file']['megabytes']:.0f} MB")
        return
    how, path = arguments.read
    begun = time.perf_counter()
    dialogues = {"stream": stream, "load": load}[how](Path(path))
    seconds = time.perf_counter() - begun
    print(json.dumps({"seconds": seconds, "peak": peak(), "dialogues": dialogues}))


if __name__ == "__main__":
    main()
