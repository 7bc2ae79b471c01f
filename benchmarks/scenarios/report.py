"""The report of a large warehouse, compared with its tables read once."""

from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, command, large_warehouse
from benchmarks.scenarios.dashboard import SHARES
from benchmarks.scenarios.views import asking
from talkhouse.schema.tables import metadata, qualified


def _case(share: float, folder: Path) -> Case:
    warehouse, page = large_warehouse(folder, share), folder / "report.html"
    hashes = (f"select sum(hash(one)) from {qualified(table)} as one" for table in metadata.sorted_tables)
    tables = " union all ".join(hashes)
    return Case(
        (
            command("report", "--output", page, "--db", warehouse, name="talkhouse report", writes=page),
            asking("DuckDB, every row of every table once", {"tables": tables}, folder / "tables.json", warehouse),
        ),
        share,
    )


SCENARIO = Scenario(
    name="report",
    title="talkhouse report",
    cases={name: partial(_case, share) for name, share in SHARES.items()},
    quick=("700,000 examples",),
    limit=dict.fromkeys(SHARES, 60.0),
    grows=True,
    notes=("The whole command; the rows of the tables are hashed inside a connection that is open.",),
)
