"""Task views read in full, and one dialogue or split out of one: SQL asked in a connection that is open.

    python -m benchmarks.scenarios.views STATEMENTS.json [WAREHOUSE]

asks a warehouse, or DuckDB alone, SQL by name, and prints what each answer took. Rows are read in full, as Arrow
batches, and nothing is kept of them.
"""

import json
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import duckdb

import talkhouse
from benchmarks.clock import timed
from benchmarks.scenario import Case, Scenario, Side, large_warehouse, module
from talkhouse.schema.sql import literal

_SMALL, _LARGE = (1, 0.05), (3, 0.2)
"""The share of the corpora, and that of MANtIS, whose rankings are nine tenths of all rows."""

_SHARES = {"small": _SMALL, "large": _LARGE}
_ROWS = {"275,000 rows": _SMALL, "1.1 million rows": _LARGE, "10 million rows": (0.05, 1.8)}
_LARGEST = list(_ROWS)[-1]
_RANKING = "mantis.response_ranking_50"


def _full(share: float, mantis: float, folder: Path) -> Case:
    warehouse = large_warehouse(folder, share, mantis)
    views, scans = {}, {}
    with talkhouse.open(warehouse, unsafe=True) as con:
        tasks = con.execute("select distinct corpus_id || '.' || task from main.examples order by 1").fetchall()
        for (view,) in tasks:
            rows = literal(str(folder / f"{view}.parquet"))
            con.execute(f"copy (from {view}) to {rows} (format parquet)")
            views[view], scans[view] = f"from {view}", f"from read_parquet({rows})"
    return Case(
        (
            asking("Talkhouse, the view", views, folder / "views.json", warehouse),
            asking("DuckDB, a Parquet file of its rows", scans, folder / "scans.json"),
        ),
        share,
    )


def _lookup(share: float, mantis: float, folder: Path) -> Case:
    warehouse = large_warehouse(folder, share, mantis)
    with talkhouse.open(warehouse) as con:
        ((dialogue_id, rows),) = con.sql(f"select min(dialogue_id), count(*) from {_RANKING}").fetchall()
    asked = {
        "a dialogue": f"from {_RANKING} where dialogue_id = '{dialogue_id}'",
        "a split": f"from {_RANKING} where split = 'dev'",
    }
    return Case(
        (
            asking("Talkhouse, where", asked, folder / "asked.json", warehouse),
            asking("Talkhouse, the whole view", {"all": f"from {_RANKING}"}, folder / "all.json", warehouse),
        ),
        rows,
    )


VIEWS = Scenario(
    name="views",
    title="Every task view in full",
    cases={name: partial(_full, *shares) for name, shares in _SHARES.items()},
    quick=("small",),
    bar=dict.fromkeys(_SHARES, 3.0),
    measure="cpu",
    notes=(
        "Rows are read to the last, as Arrow batches, inside a connection that is open; memory is that of one process "
        "that reads all views.",
        "A view joins tables that have each text once; the Parquet file was written by DuckDB, with its defaults.",
        "small: 1,500 to 18,000 rows a view, and 275,000 of mantis.response_ranking_50; large: three to four times as "
        "many. To plan a view takes as long whatever its rows are, which is what small shows.",
    ),
)

LOOKUP = Scenario(
    name="lookup",
    title="One dialogue and one split of a ranking",
    cases={name: partial(_lookup, *shares) for name, shares in _ROWS.items()},
    quick=("275,000 rows",),
    bar={f"{_LARGEST}: a dialogue": 0.02, f"{_LARGEST}: a split": 0.25},
    measure="cpu",
    grows=True,
    notes=(
        f"{_RANKING}: a dialogue has 51 rows, however many the view has; the split has a fifth of them.",
        "The growth is in rows stored: what follows the rows returned does not grow for a dialogue.",
    ),
)


def asking(name: str, statements: Mapping[str, str], file: Path, warehouse: Path | None = None) -> Side:
    """Return the side that runs this module: SQL by name is written to the file first."""
    file.write_text(json.dumps(dict(statements)), encoding="utf-8")
    return module(name, __name__, file, *([warehouse] if warehouse else []))


def read(con: duckdb.DuckDBPyConnection, statement: str) -> None:
    """Run a statement to its last row."""
    for _ in con.sql(statement).to_arrow_reader():
        pass


def main() -> None:
    """Ask what the arguments say."""
    path, *warehouse = sys.argv[1:]
    statements: dict[str, str] = json.loads(Path(path).read_text(encoding="utf-8"))
    with talkhouse.open(Path(*warehouse)) if warehouse else duckdb.connect() as con:
        read(con, "select 1")  # imports Arrow
        took = {name: timed(read, con, text) for name, text in statements.items()}
    print(json.dumps(took if len(took) > 1 else took.popitem()[1]))


if __name__ == "__main__":
    main()
