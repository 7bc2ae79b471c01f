"""Warehouses with invented examples of a task, as many and with such answers as a test wants."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from talkhouse.scores.score import Scored, score
from talkhouse.scores.task import ScoredTask, ScoreRequest
from talkhouse.scores.workspace import ScoringWorkspace


class Invented:
    """A private copy of the sample whose examples of some tasks are others."""

    def __init__(self, sample: Path, path: Path) -> None:
        shutil.copyfile(sample, path)
        self.con = duckdb.connect(path)

    def replace(self, task: str, rows: list[dict[str, Any]]) -> None:
        """Replace the rows of a task's view, in split ``test``; ``example_index`` counts them."""
        corpus, _, name = task.partition(".")
        full = [
            {
                "split": "test",
                "example_index": index,
                "record_id": f"{corpus}/invented/{index}",
                "dialogue_id": f"{corpus}:{index // 7}",
                "turn_index": 0,
                **row,
            }
            for index, row in enumerate(rows)
        ]
        table = pa.Table.from_pylist(full)
        self.con.register("invented", table)
        self.con.execute(f"create or replace table {corpus}.{name}_rows as select * from invented")
        self.con.execute(f"create or replace view {corpus}.{name} as select * from {corpus}.{name}_rows")
        release = "release" if "release" in table.column_names else "null"
        item = "item_index::integer" if "item_index" in table.column_names else "null"
        self.con.execute("delete from main.examples where corpus_id = ? and task = ?", [corpus, name])
        self.con.execute(
            "insert into main.examples by name select "
            f"'{corpus}' as corpus_id, '{name}' as task, {release} as release, split, example_index::integer as "
            f"example_index, record_id, dialogue_id, turn_index::integer as turn_index, {item} as item_index "
            "from invented"
        )

    def replace_blocks(self, task: str, blocks: int, size: int) -> None:
        """Write so many blocks of lines, the true response first, as the published file of a ranking task of MANtIS."""
        name = f"mantis.{task}"
        self.replace(name, [{"record_id": f"mantis/invented/{index // size}"} for index in range(blocks * size)])
        self.con.execute("delete from main.candidates where record_id like 'mantis/invented/%'")
        self.con.execute(
            "create or replace view mantis.ranking_blocks as select 'test' as split, 'mantis/invented/' || i as "
            f"record_id, i * {size} as first_row, i * {size} as first_example, {size} as row_count "
            f"from range({blocks}) as t(i)"
        )
        self.con.execute(
            "insert into main.candidates by name select 'mantis/invented/' || i as record_id, 1 as turn_index, "
            "'mantis_10' as candidate_set, 0 as position, 0 as item_index, true as is_gold "
            f"from range({blocks}) as t(i)"
        )


def score_once(
    con: duckdb.DuckDBPyConnection, wanted: ScoredTask, request: ScoreRequest, thresholds: Sequence[float] = ()
) -> Scored:
    """Score predictions of a task, and leave no tables of the run."""
    with ScoringWorkspace(con) as workspace:
        return score(workspace, wanted, request, thresholds)
