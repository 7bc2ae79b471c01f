"""Every task view read in full, beside a scan of the same rows that were written before."""

from functools import partial
from pathlib import Path

import talkhouse
from benchmarks.scenario import Case, Scenario
from benchmarks.shapes.large_warehouse import in_common
from benchmarks.sides.ask import asking
from talkhouse.schema.sql import literal


def task_views(path: Path) -> list[str]:
    """Return the views that have examples in a warehouse."""
    with talkhouse.open(path) as con:
        views = con.execute("select distinct corpus_id || '.' || task from main.examples order by 1").fetchall()
        return [view for (view,) in views]


def _case(folder: Path, *, name: str) -> Case:
    share, mantis = SHARES[name]
    warehouse = in_common(folder, share, mantis)
    views = task_views(warehouse)
    scans = {}
    with talkhouse.open(warehouse, unsafe=True) as con:
        for view in views:
            rows = literal(str(folder / f"{view}.parquet"))
            con.execute(f"copy (from {view}) to {rows} (format parquet)")
            scans[view] = f"from read_parquet({rows})"
    return Case(
        name,
        (
            asking("Talkhouse, the view", {view: f"from {view}" for view in views}, folder / "views.json", warehouse),
            asking("DuckDB, a Parquet file of its rows", scans, folder / "scans.json"),
        ),
        size=share,
    )


SHARES = {"small": (1, 0.05), "large": (3, 0.2)}
"""The share of the corpora, and that of MANtIS, whose rankings are nine tenths of all rows."""

SCENARIO = Scenario(
    name="views",
    title="Every task view in full",
    cases={name: partial(_case, name=name) for name in SHARES},
    quick=("small",),
    bar=dict.fromkeys(SHARES, 3.0),
    measure="cpu",
    notes=(
        "Rows are read to the last, as Arrow batches, inside a connection that is open; memory is that of one process "
        "that reads all views.",
        "A view joins tables that have each text once; the Parquet file was written by DuckDB, with its defaults.",
        "small: 1,500 to 18,000 rows a view, and 275,000 of mantis.response_ranking_50; large: three to four times as "
        "many. To plan a view takes as long whatever its rows are, which is what small shows.",
    ),
)
