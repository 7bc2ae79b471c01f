"""What changed between two publications of a turn, computed from the labels in another way."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations
from typing import Any

import duckdb
import pytest

from tests.queries.bi_rows import by, label_of, read, records_of, several_at_once


def test_changes_are_those_between_the_votes(con: duckdb.DuckDBPyConnection) -> None:
    order = {(row["corpus_id"], row["release"]): row["release_index"] for row in read(con, "from main.releases")}
    records, together = records_of(con), several_at_once(con)
    votes: dict[Any, dict[Any, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for row in read(con, "from main.annotations where dialogue_id is not null and turn_index is not null"):
        record, label = records[row["record_id"]], label_of(row)
        place = record["corpus_id"], record["release"]
        if place in order and label is not None and row["scheme"] not in together:
            turn = row["dialogue_id"], row["turn_index"], row["scheme"]
            votes[turn][order[place], record["release"], row["record_id"]][label] += 1
    found = by(
        read(con, "from bi.label_changes"), "dialogue_id", "turn_index", "scheme", "release_before", "release_after"
    )
    expected = 0
    for turn, publications in votes.items():
        for before, after in combinations(sorted(publications), 2):
            row, expected = found[*turn, before[1], after[1]], expected + 1
            first, second = publications[before], publications[after]
            distance = sum(
                abs(Fraction(first[label], first.total()) - Fraction(second[label], second.total()))
                for label in first | second
            )
            assert row["change"] == pytest.approx(float(distance / 2))
            assert row["is_changed"] == (distance > 0)
            assert (row["record_id_before"], row["record_id_after"]) == (before[2], after[2])
            assert row["is_default"] == records[before[2]]["is_default"]
            for name, count in (("before", first), ("after", second)):
                assert row[f"votes_{name}"] == ", ".join(f"{label} {count[label]}" for label in sorted(count))
                assert row[f"majority_{name}"] == min(count, key=lambda label: (-count[label], label))
            assert row["is_majority_changed"] == (row["majority_before"] != row["majority_after"])
    assert len(found) == expected > 0
    assert {row["is_changed"] for row in found.values()} == {True, False}
