"""Scoring as the tests of metrics want it: the numbers of one run, whose tables are gone afterwards."""

from collections.abc import Sequence

import duckdb

from talkhouse.scores.score import Scored, score
from talkhouse.scores.tasks.request import Request
from talkhouse.scores.tasks.task import Task
from talkhouse.scores.tasks.workspace import Workspace


def score_once(
    con: duckdb.DuckDBPyConnection, wanted: Task, request: Request, thresholds: Sequence[float] = ()
) -> Scored:
    """Score predictions of a task."""
    with Workspace(con) as workspace:
        return score(workspace, wanted, request, thresholds)
