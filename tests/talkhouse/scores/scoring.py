"""Scoring as the tests of metrics want it: the numbers of one run, whose tables are gone afterwards."""

from collections.abc import Sequence

import duckdb

from talkhouse.scores.score import Scored, score
from talkhouse.scores.task import ScoredTask, ScoreRequest
from talkhouse.scores.workspace import ScoringWorkspace


def score_once(
    con: duckdb.DuckDBPyConnection, wanted: ScoredTask, request: ScoreRequest, thresholds: Sequence[float] = ()
) -> Scored:
    with ScoringWorkspace(con) as workspace:
        return score(workspace, wanted, request, thresholds)
