"""Rows on their way to tables: kept as columns, inserted in two transactions, and none is lost."""

import time

import polars as pl
import pytest

from talkhouse.ingest import rows
from talkhouse.ingest.loading.batches import Batch, Batches, column_batch_frame


class Sink:
    """An insert transaction that keeps what comes."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.finished = 0.0

    def write(self, batch: Batch) -> None:
        """Keep a batch."""
        self.batches.append(batch)

    def finish(self) -> None:
        """Note when that was."""
        self.finished = time.monotonic()

    def close(self) -> None:
        """Forget nothing."""


def test_a_column_batch_is_the_rows_that_it_stands_for() -> None:
    blocks = [
        rows.ColumnBatch(
            rows.PersonaUse, {"record_id": "r", "turn_index": 2}, {"position": [0, 1], "persona_id": ["p", "q"]}
        ),
        rows.ColumnBatch(rows.PersonaUse, {"record_id": "s"}, {"position": [0], "persona_id": ["p"]}),
    ]
    found = (
        column_batch_frame("persona_uses", blocks).select("record_id", "turn_index", "position", "persona_id").rows()
    )
    assert found == [("r", 2, 0, "p"), ("r", 2, 1, "q"), ("s", None, 0, "p")]


def test_columns_of_one_table_may_be_series_and_lists() -> None:
    lists = rows.ColumnBatch(rows.Participant, {"role": "user"}, {"dialogue_id": ["a", "b"], "speaker_id": ["c", "d"]})
    series = rows.ColumnBatch(
        rows.Participant,
        {"role": "agent"},
        {"dialogue_id": pl.Series(["e", "é"]), "speaker_id": pl.Series(["f", None], dtype=pl.String)},
    )
    sink = Sink()
    with Batches([sink]) as batches:
        batches.add([], 1, [lists, series, lists, series])
        batches.flush()
        batches.finish()
    found = [row for batch in sink.batches for row in batch.frame.select("dialogue_id", "speaker_id", "role").rows()]
    expected = [("a", "c", "user"), ("b", "d", "user"), ("e", "f", "agent"), ("é", None, "agent")]
    assert sorted(found, key=repr) == sorted(expected * 2, key=repr)


def test_batches_go_to_one_transaction_after_the_other_and_none_is_lost() -> None:
    transactions = [Sink(), Sink()]
    with Batches(transactions) as batches:
        for index in range(51):
            batches.add([rows.Participant(f"{index:02}", "s", None)], 1)
            batches.flush()
        batches.finish()
    found = [
        [key for batch in transaction.batches for key in batch.frame["dialogue_id"]] for transaction in transactions
    ]
    assert found == [[f"{index:02}" for index in range(first, 51, 2)] for first in range(2)]
    # The second one had its turn next: it may be done while the first one writes what came last.
    assert transactions[1].finished < transactions[0].finished


def test_what_goes_wrong_while_inserting_is_raised() -> None:
    class Failing(Sink):
        def write(self, batch: Batch) -> None:
            raise OSError(batch.table)

        def finish(self) -> None:
            raise AssertionError("nothing may last")

    with Batches([Failing()]) as batches:
        batches.add([rows.Participant("d", "s", None)], 1)
        batches.flush()
        with pytest.raises(OSError, match="participants"):
            batches.finish()
