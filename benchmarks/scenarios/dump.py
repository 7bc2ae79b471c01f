"""From an invented Stack Exchange dump to MANtIS's JSON, beside raw expat on the same files."""

from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, module, peer, talkhouse
from benchmarks.shapes.dump import write_dump


def _case(name: str, megabytes: int, folder: Path) -> Case:
    dump, made = folder / "travel", folder / "made"
    dump.mkdir()
    write_dump(dump, megabytes * 1_000_000)
    read = [dump / file for file in ("Posts.xml", "Comments.xml")]
    sides = (
        talkhouse("make", "mantis", dump, "--negatives", "none", "--output", made, name="talkhouse make", writes=made),
        peer("expat without handlers", "expat_parse", *read),
        module("XML to columns alone", "benchmarks.sides.xml_columns", dump, is_part=False),
    )
    return Case(name, sides, sum(path.stat().st_size for path in read) / 1e6)


SCENARIO = Scenario(
    name="dump",
    title="Make MANtIS's files from a Stack Exchange dump",
    cases={f"{size} MB of posts": partial(_case, f"{size} MB of posts", size) for size in (300, 20)},
    quick=("20 MB of posts",),
    measure="cpu",
    notes=(
        "Whole processes. expat only checks that Posts.xml, and Comments.xml of half its size, are well-formed.",
        "Posts are streamed; a site's comments are in memory.",
    ),
)
