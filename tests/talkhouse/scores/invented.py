"""Warehouses with invented examples of a task, as many and with such answers as a test wants."""

import shutil
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa


class Invented:
    """A private copy of the sample whose examples of some tasks are others."""

    def __init__(self, sample: Path, path: Path) -> None:
        shutil.copyfile(sample, path)
        self.con = duckdb.connect(path)

    def replace(self, task: str, rows: list[dict[str, Any]]) -> None:
        """Let a task's view have these rows, in split ``test``; ``example_index`` counts them."""
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
        self.con.execute("delete from main.examples where corpus_id = ? and task = ?", [corpus, name])
        self.con.execute(
            "insert into main.examples by name select "
            f"'{corpus}' as corpus_id, '{name}' as task, {release} as release, split, example_index::integer as "
            "example_index, record_id, dialogue_id, turn_index::integer as turn_index from invented"
        )
