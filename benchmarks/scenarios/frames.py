"""Talks with frames and spans, loaded by a corpus of one's own, beside ``json.load`` of its files."""

from functools import partial
from pathlib import Path

from benchmarks import service_talks
from benchmarks.scenario import Case, Scenario, ingest, peer
from benchmarks.shapes.frames import Inventor

_CORPUS = Path(service_talks.__file__).parent
_SCALES = {"300 MB": 1.0, "15 MB": 0.05}


def _case(name: str, scale: float, folder: Path) -> Case:
    source = folder / _CORPUS.name
    Inventor(scale).folder(source)
    size = sum(path.stat().st_size for path in source.rglob("*.json")) / 1e6
    ours = ingest(_CORPUS.name, source, "--corpora", str(_CORPUS))
    return Case(name, (ours, peer("json.load of each", "json_load", source)), size)


SCENARIO = Scenario(
    name="frames",
    title="Load talks with frames and spans, by a corpus of one's own (SGD's shape)",
    cases={name: partial(_case, name, scale) for name, scale in _SCALES.items()},
    quick=("15 MB",),
    bar={"300 MB": 4},
    measure="cpu",
    notes=(
        "Whole processes. The corpus is benchmarks/service_talks, begun by `talkhouse new corpus --like json-list`.",
        "A file of 128 talks is in memory at a time.",
    ),
)
