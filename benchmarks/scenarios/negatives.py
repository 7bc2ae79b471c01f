"""Drawing the wrong responses of a response ranking, in one process and in two."""

from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, module
from benchmarks.shapes.negatives import write_splits


def _case(name: str, texts: int, folder: Path) -> Case:
    write_splits(folder, texts)
    sides = (
        module(
            f"{jobs} processes" if jobs > 1 else "1 process",
            "benchmarks.sides.draw_negatives",
            folder,
            str(jobs),
            is_part=False,
        )
        for jobs in (2, 1)
    )
    return Case(name, tuple(sides), texts)


SCENARIO = Scenario(
    name="negatives",
    title="Draw 10 and 50 wrong responses for each context (MANtIS's shape)",
    cases={f"{texts:,} texts": partial(_case, f"{texts:,} texts", texts) for texts in (25_000,)},
    quick=(),
    notes=(
        "Whole processes. MANtIS itself has 250,000 texts, from which two minutes with 10 and six with 50 wrong "
        "responses each are known. The files, 30 GB there, go to /dev/null.",
        "Memory that the processes share is counted once for each.",
    ),
)
