"""The views for BI tools of single corpora say what plain Python makes of their tables."""

import math
from collections import defaultdict
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def shares(rows: list[Row], groups: set[str], part: str, whole: str) -> dict[Any, float]:
    """Add up both counts for each group and divide, as a chart does."""
    columns = sorted(groups)
    return {
        key: total(mine, part) / total(mine, whole) for key, mine in grouped(rows, *columns).items() if columns or mine
    }


SITES = ("split", "site", "role", "turn_index")


@given(groups=st.sets(st.sampled_from(SITES)))
def test_shares_of_an_intent_add_up_over_any_groups(con: duckdb.DuckDBPyConnection, groups: set[str]) -> None:
    """A place without an intent has a row that says so, or its utterances would be missing from the whole."""
    query = "select split, site, role, turn_index, intents, 1 as one from mantis.utterance_intents "
    labelled = read(con, f"{query} inner join bi.mantis_utterances using (split, dialogue_id, turn_index)")
    for (intent,), rows in grouped(read(con, "from bi.mantis_intents_by_domain"), "intent").items():
        given_here = [row | {"has": intent in row["intents"]} for row in labelled]
        expected = shares(given_here, groups, "has", "one")
        assert shares(rows, groups, "utterance_count", "labelled_count") == expected


@given(groups=st.sets(st.sampled_from(("split", "context_dataset"))))
def test_shares_of_a_model_add_up_over_any_groups(con: duckdb.DuckDBPyConnection, groups: set[str]) -> None:
    query = """
        select split, context_dataset, coalesce(nullif(trim(guided_chosen_suggestion), ''), 'none') as model, 1 as one
        from blended_skill_talk.guided_response_clean
    """
    answers = read(con, query)
    found = grouped(read(con, "from bi.blended_skill_talk_suggestions_taken"), "model")
    assert found.keys() == {(row["model"],) for row in answers}
    for (model,), rows in found.items():
        expected = shares([row | {"taken": row["model"] == model} for row in answers], groups, "taken", "one")
        assert shares(rows, groups, "taken_count", "answer_count") == expected
        assert [row["shown_first_count"] is None for row in rows] == [model == "none"] * len(rows)


def test_pairs_of_intents_add_up_over_splits(con: duckdb.DuckDBPyConnection) -> None:
    intents = [set(row["intents"]) for row in read(con, "select intents from mantis.utterance_intents")]
    found = grouped(read(con, "from bi.mantis_intent_cooccurrence"), "intent", "other_intent")
    assert found
    for (one, other), rows in found.items():
        assert total(rows, "both_count") == sum({one, other} <= given for given in intents)
        assert total(rows, "either_count") == sum(bool({one, other} & given) for given in intents)
        assert total(rows, "intent_count") == sum(one in given for given in intents)


def test_episodes_have_the_lengths_of_their_messages(con: duckdb.DuckDBPyConnection) -> None:
    messages = grouped(read(con, "from bi.turns where kind = 'message'"), "dialogue_id")
    found = read(con, "from bi.blended_skill_talk_dialogue_lengths")
    assert found
    for row in found:
        mine = messages[(row["dialogue_id"],)]
        assert row["message_count"] == len(mine)
        assert row["message_count_bin"] == len(mine) - len(mine) % 2
        assert (row["character_count"], row["word_count"]) == (
            total(mine, "character_count"),
            total(mine, "word_count"),
        )


def test_votes_of_any_group_can_be_taken_from_the_utterances(con: duckdb.DuckDBPyConnection) -> None:
    query = "from bi.mantis_utterances where role = 'agent' and post_id is not null and comment_id is null"
    answers = grouped(read(con, query), "split", "site")
    for row in read(con, "from bi.mantis_answer_votes"):
        votes = sorted(one["votes"] for one in answers[row["split"], row["site"]] if one["votes"] is not None)
        assert (row["voted_count"], row["vote_sum"]) == (len(votes), sum(votes))
        assert row["median_votes"] == votes[math.ceil(len(votes) / 2) - 1]


def test_shares_of_grounded_messages_add_up(con: duckdb.DuckDBPyConnection) -> None:
    found = read(con, "from bi.mpchat_grounding_by_subreddit")
    uses = read(con, "from main.persona_uses where persona_set = 'gpp_gold'")
    messages = """
        select count(*) as message_count
        from main.records inner join main.turns
            on turns.dialogue_id = records.dialogue_id and turns.speaker_id = records.main_speaker_id
        where records.subset = 'gpp'
    """
    assert total(found, "grounded_count") == len(uses)
    assert [{"message_count": total(found, "response_count")}] == read(con, messages)
