"""The decoder alone on one JSON object, compared with ``json.load``: mostly its memory.

    python -m benchmarks.scenarios.decode FILE NUMBER

decodes the members of the object as a corpus does; ends with an error where their number is another.
"""

import json
import random
import sys
from functools import partial
from pathlib import Path

from msgspec import UNSET, Struct, UnsetType

from benchmarks.scenario import Case, Scenario, module, peer
from talkhouse.ingest import decode
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.json_members import views
from talkhouse.ingest.sources import opened


def case(megabytes: float, folder: Path) -> Case:
    """Make the case of a size."""
    source = folder / "talks.json"
    number = write_file(source, megabytes)
    sides = (
        module("typed members", __name__, source, str(number), is_part=False),
        peer("json.load", "json_load", source),
    )
    return Case(sides, source.stat().st_size / 1e6)


SCENARIO = Scenario(
    name="decode",
    title="Decode one JSON object, without storing it",
    cases={f"{size} MB": partial(case, size) for size in (300, 20)},
    quick=("20 MB",),
    notes=(
        "Whole processes. Ours checks types, unknown fields and keys that stand twice. Its peak is to stay below the "
        "file's size and 300 MB, which a test holds; the file is in memory, what is decoded is not.",
    ),
)


def write_file(path: Path, megabytes: float) -> int:
    """Write one JSON object of invented dialogues, keyed "0", "1" ...; return their number."""
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


def dialogues(path: Path) -> int:
    """Read the file: bytes, members, typed records; return the number of dialogues that have utterances."""
    found = 0
    with opened(disk_files(path, "toys")) as ([file], _):
        for _, piece in views(file.read()):
            found += bool(decode.record(bytes(piece), Talk, rule="XX-01").value.utterances)
    return found


if __name__ == "__main__":
    found = dialogues(Path(sys.argv[1]))
    if found != int(sys.argv[2]):
        sys.exit(f"{found} dialogues were decoded, {sys.argv[2]} are there")
