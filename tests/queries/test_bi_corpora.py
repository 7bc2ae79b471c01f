"""The views for BI tools of single corpora say what plain Python makes of their tables."""

import math
from collections import Counter, defaultdict

import duckdb
import pytest

from tests.queries.bi_rows import by, grouped, read


def test_breakdowns_by_position_are_means_over_talks(con: duckdb.DuckDBPyConnection) -> None:
    key = ("release", "split", "language", "subset")
    groups = defaultdict(list)
    for _, rows in grouped(read(con, "from dbdc3.breakdown_detection"), "record_id").items():
        for position, row in enumerate(sorted(rows, key=lambda row: row["turn_index"])):
            groups[*(row[name] for name in key), position].append(row)
    found = by(read(con, "from bi.dbdc3_breakdown_by_position"), *key, "position")
    assert found.keys() == groups.keys()
    for key, row in found.items():
        mine = groups[key]
        assert row["turn_count"] == len(mine)
        assert row["share_t"] == pytest.approx(sum(one["prob_t"] for one in mine) / len(mine))
        assert row["breakdown_rate"] == pytest.approx(sum(one["label"] == "X" for one in mine) / len(mine))
        assert row["breakdown_rate_at_half"] == pytest.approx(
            sum(one["label_at_half"] == "X" for one in mine) / len(mine)
        )
        assert row["lenient_breakdown_rate"] == pytest.approx(
            sum(one["lenient_label"] == "X_l" for one in mine) / len(mine)
        )
        shares = [[one["prob_o"], one["prob_t"], one["prob_x"]] for one in mine]
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


def test_a_trajectory_follows_the_performance(con: duckdb.DuckDBPyConnection) -> None:
    scheme = "delidata.team_performance"
    values = {
        (row["record_id"], row["turn_index"]): row["value"]
        for row in read(con, f"from main.annotations where scheme = '{scheme}'")
    }
    found = grouped(read(con, "from bi.delidata_trajectory order by turn_index"), "record_id")
    assert {record_id for (record_id,) in found} == {record_id for record_id, _ in values}
    for (record_id,), rows in found.items():
        assert [row["turn_index"] for row in rows] == list(range(len(rows)))
        best: list[float] = []
        for row in rows:
            value = values[record_id, row["turn_index"]]
            assert row["team_performance"] == value
            assert row["change_since_start"] == value - values[record_id, 0]
            assert row["is_new_best"] == (value > max(best) if best else None)
            best.append(value)
            assert row["best_so_far"] == max(best)
            assert row["message_count"] == sum(
                other["kind"] == "message" for other in rows if other["turn_index"] <= row["turn_index"]
            )
            assert row["progress"] == pytest.approx(row["turn_index"] / (len(rows) - 1))
    sizes = {row["native_id"]: row["group_size"] for (_,), rows in found.items() for row in rows}
    named = Counter(row["dialogue_id"] for row in read(con, "from main.participants where role = 'participant'"))
    assert sizes == {native_id: named[f"delidata:{native_id}"] for native_id in sizes}
