"""The views for BI tools of single corpora say what plain Python makes of their tables."""

import math
from collections import defaultdict
from typing import Any

import duckdb
import pytest

from tests.queries.bi_rows import Row, by, grouped, read, records_of, total


def test_breakdowns_by_position_are_means_over_talks(con: duckdb.DuckDBPyConnection) -> None:
    key = ("release", "is_default", "split", "language", "subset")
    groups = defaultdict(list)
    records = records_of(con)
    for (record_id,), rows in grouped(read(con, "from dbdc3.breakdown_detection"), "record_id").items():
        for row in rows:
            row["is_default"] = records[record_id]["is_default"]
        for position, row in enumerate(sorted(rows, key=lambda row: row["turn_index"])):
            groups[*(row[name] for name in key), position].append(row)
    found = by(read(con, "from bi.dbdc3_breakdown_by_position"), *key, "position")
    assert found.keys() == groups.keys()
    for key, row in found.items():
        mine = groups[key]
        assert row["turn_count"] == len(mine)
        for label in "otx":
            assert row[f"{label}_count"] == total(mine, f"count_{label}")
        assert row["share_t"] == pytest.approx(sum(turn["prob_t"] for turn in mine) / len(mine))
        assert row["breakdown_rate"] == pytest.approx(sum(turn["label"] == "X" for turn in mine) / len(mine))
        assert row["breakdown_rate_at_half"] == pytest.approx(
            sum(turn["label_at_half"] == "X" for turn in mine) / len(mine)
        )
        assert row["lenient_breakdown_rate"] == pytest.approx(
            sum(turn["lenient_label"] == "X_l" for turn in mine) / len(mine)
        )
        shares = [[turn["prob_o"], turn["prob_t"], turn["prob_x"]] for turn in mine]
        entropy = [-sum(share * math.log2(share) for share in of_turn if share) for of_turn in shares]
        assert row["mean_entropy"] == pytest.approx(sum(entropy) / len(mine))
        assert row["bot"] == {"TKTK": "TickTock", "json": "TickTock"}.get(
            row["subset"][:4], row["subset"].split("_")[0]
        )


def test_a_share_of_zero_adds_no_entropy(toy: duckdb.DuckDBPyConnection) -> None:
    """Two dialogues at one position: all annotators say O, and half say O and half X."""
    for number, labels in enumerate((["O", "O"], ["O", "X"])):
        dialogue, record = f"dbdc3:{number}", f"dbdc3/r/{number}"
        for table, columns, *rows in (
            ("dialogues", "dialogue_id, corpus_id", (dialogue, "dbdc3")),
            ("turns", "dialogue_id, turn_index, role, kind, text", (dialogue, 0, "system", "message", "Well.")),
            (
                "records",
                "record_id, corpus_id, dialogue_id, split, record_index, source_file_id, source_pointer",
                (record, "dbdc3", dialogue, "dev", number, "f", ""),
            ),
            (
                "examples",
                "corpus_id, task, split, example_index, record_id, dialogue_id, turn_index",
                ("dbdc3", "breakdown_detection", "dev", number, record, dialogue, 0),
            ),
            (
                "annotations",
                "record_id, dialogue_id, turn_index, scheme, annotator_index, item_index, label",
                *((record, dialogue, 0, "dbdc3.breakdown", index, 0, label) for index, label in enumerate(labels)),
            ),
        ):
            marks = ", ".join("?" for _ in columns.split(","))
            toy.executemany(f"insert into main.{table} ({columns}) values ({marks})", rows)
    (row,) = read(toy, "from bi.dbdc3_breakdown_by_position")
    assert (row["turn_count"], row["share_o"], row["share_t"], row["mean_entropy"]) == (2, 0.75, 0, 0.5)


def shares(rows: list[Row], groups: set[str], part: str, whole: str) -> dict[Any, float]:
    """Add up both counts for each group and divide, as a chart does."""
    columns = sorted(groups)
    return {
        key: total(mine, part) / total(mine, whole) for key, mine in grouped(rows, *columns).items() if columns or mine
    }


def test_votes_of_any_group_can_be_taken_from_the_utterances(con: duckdb.DuckDBPyConnection) -> None:
    query = "from bi.mantis_utterances where role = 'agent' and post_id is not null and comment_id is null"
    answers = grouped(read(con, query), "split", "site")
    for row in read(con, "from bi.mantis_answer_votes"):
        votes = sorted(answer["votes"] for answer in answers[row["split"], row["site"]] if answer["votes"] is not None)
        assert (row["voted_count"], row["vote_sum"]) == (len(votes), sum(votes))
        assert row["median_votes"] == votes[math.ceil(len(votes) / 2) - 1]
