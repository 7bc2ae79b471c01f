"""Decodes the members of one JSON object as a corpus does; ends with an error where their number is not the told one.

    python -m benchmarks.sides.decode_members FILE NUMBER

The file is that of ``shapes.decode``.
"""

import sys
from pathlib import Path

from msgspec import UNSET, Struct, UnsetType

from talkhouse.ingest import decode
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.json_members import views
from talkhouse.ingest.sources import opened


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
