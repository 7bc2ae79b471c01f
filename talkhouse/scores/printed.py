"""What the script of a publisher prints."""

from pyarrow import lib as pa

from talkhouse.queries.heads import Query
from talkhouse.schema.errors import UsageError
from talkhouse.scores.score import AtThreshold, Scored
from talkhouse.scores.tasks.sql_files import Bound
from talkhouse.scores.tasks.workspace import Workspace


def printed(workspace: Workspace, scored: Scored) -> str:
    """Return what the publisher's script prints for all that was scored, at one threshold after the other."""
    lines = scored.task.printed
    if lines is None:
        raise UsageError(f"{scored.task.name} has no script whose output is known", next_step="leave --as-printed out")
    return "".join(_printed_at(workspace, turn, lines) for turn in scored.turns)


def _printed_at(workspace: Workspace, turn: AtThreshold, lines: Query) -> str:
    numbers = [metric for metric in turn.metrics if metric.slice is None]
    columns = {
        "name": pa.array([metric.name for metric in numbers], pa.string()),
        "value": pa.array([metric.value for metric in numbers], pa.float64()),
        "count": pa.array([metric.count for metric in numbers], pa.int64()),
        "of": pa.array([metric.of for metric in numbers], pa.int64()),
    }
    results = workspace.create_arrow("results", pa.table(columns))
    sql = Bound(lines, "printed", {"results": f"from {results}"})
    sql.check(workspace.con, "line")
    with sql.errors(workspace.con):
        rows = workspace.con.execute(f"select line from ({sql.sql})").fetchall()
    return "".join(f"{line}\n" for (line,) in rows)
