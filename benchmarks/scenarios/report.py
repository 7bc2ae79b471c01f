"""The report of a large warehouse, beside its tables read once."""

from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, talkhouse
from benchmarks.scenarios.dashboard import SHARES
from benchmarks.shapes.large_warehouse import in_common
from benchmarks.sides.ask import asking
from talkhouse.schema.tables import metadata, qualified


def _case(folder: Path, *, name: str) -> Case:
    warehouse, page = in_common(folder, SHARES[name]), folder / "report.html"
    hashes = (f"select sum(hash(one)) from {qualified(table)} as one" for table in metadata.sorted_tables)
    tables = " union all ".join(hashes)
    return Case(
        name,
        (
            talkhouse("report", "--output", page, "--db", warehouse, name="talkhouse report", writes=page),
            asking("DuckDB, every row of every table once", {"tables": tables}, folder / "tables.json", warehouse),
        ),
        size=SHARES[name],
    )


SCENARIO = Scenario(
    name="report",
    title="talkhouse report",
    cases={name: partial(_case, name=name) for name in SHARES},
    quick=("700,000 examples",),
    limit=dict.fromkeys(SHARES, 60.0),
    grows=True,
    notes=("The whole command; the rows of the tables are hashed inside a connection that is open.",),
)
