"""A speaker-identification file in MPChat's shape and size: persona elements that repeat."""

from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, ingest, peer
from benchmarks.shapes.mpchat import Inventor

_SCALES = {"470 MB": 1.0, "47 MB": 0.1, "almost empty": 0.0001}


def _case(name: str, scale: float, folder: Path) -> Case:
    source = folder / "mpchat_si.json"
    Inventor(scale).file(source)
    size = source.stat().st_size / 1e6
    return Case(name, (ingest("mpchat", source), peer("json.load", "json_load", source)), size)


SCENARIO = Scenario(
    name="mpchat",
    title="Load speaker identification (MPChat's shape)",
    cases={name: partial(_case, name, scale) for name, scale in _SCALES.items()},
    quick=("47 MB",),
    bar={"470 MB": 2},
    notes=(
        "Whole processes. The almost empty file shows what an ingest takes whatever the size.",
        "The whole file is in memory: the peak shall stay below its size and 600 MB.",
    ),
)
