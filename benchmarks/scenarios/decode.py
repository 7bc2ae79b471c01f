"""The decoder alone on one JSON object, beside ``json.load``: mostly its memory."""

from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, module, peer
from benchmarks.shapes.decode import write_file


def case(name: str, megabytes: float, folder: Path) -> Case:
    """Make the case of a size."""
    source = folder / "talks.json"
    number = write_file(source, megabytes)
    sides = (
        module("typed members", "benchmarks.sides.decode_members", source, str(number), is_part=False),
        peer("json.load", "json_load", source),
    )
    return Case(name, sides, source.stat().st_size / 1e6)


SCENARIO = Scenario(
    name="decode",
    title="Decode one JSON object, without storing it",
    cases={f"{size} MB": partial(case, f"{size} MB", size) for size in (300, 20)},
    quick=("20 MB",),
    notes=(
        "Whole processes. Ours checks types, unknown fields and keys that stand twice. Its peak is to stay below the "
        "file's size and 300 MB, which a test holds; the file is in memory, what is decoded is not.",
    ),
)
