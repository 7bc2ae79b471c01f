"""Every page of the dashboard, opened for the first time."""

from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, module
from benchmarks.shapes.large_warehouse import in_common

SHARES = {"700,000 examples": 0.1, "7 million examples": 1.0}


def _case(folder: Path, *, name: str) -> Case:
    warehouse = in_common(folder, SHARES[name])
    return Case(
        name,
        (
            module("Talkhouse, the page", "benchmarks.sides.open_pages", warehouse),
            module("Streamlit, an empty page", "benchmarks.sides.open_pages"),
        ),
        size=SHARES[name],
    )


SCENARIO = Scenario(
    name="dashboard",
    title="Every page of the dashboard, the first time",
    cases={name: partial(_case, name=name) for name in SHARES},
    quick=("700,000 examples",),
    limit=dict.fromkeys(SHARES, 3.0),
    notes=(
        "A page is opened by its address in Chromium, and is there when its script has ended and its charts are drawn.",
        "The server is new in each run, and has not shown the page before; memory is that of server and browser.",
    ),
)
