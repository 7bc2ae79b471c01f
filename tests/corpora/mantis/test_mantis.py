"""MANtIS: the worked example, every pattern of roles, labels from three sources, rankings, and files there and back."""

import json
from collections import Counter
from collections.abc import Callable
from itertools import count, product
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import talkhouse
from talkhouse.ingest.corpora.mantis import CORPUS
from talkhouse.ingest.progress import Silent
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import build
from talkhouse.restore.write_back import write_back
from tests.conftest import Build, invented_builds
from tests.corpora.mantis import rules
from tests.corpora.mantis.inventor import Inventor
from tests.corpora.mantis.rules import Line, Talk, Talks
from tests.corpora.unusual import assert_comes_back
from tests.data_files import data_of

Files = dict[str, Talks | bytes]
Load = Callable[[Files], duckdb.DuckDBPyConnection]
SPLITS = ("train", "dev", "test")
RANKED = {10: "_easy", 50: ""}
"""What the names of a response-ranking file end with, by its negatives."""
RESPONSES = "turn_index, context, response"
ROWS = "row_index, turn_index, label, context, candidate"
INTENTS = "turn_index, utterance, intents"


def spoken(roles: str, positions: list[int] | None = None) -> Talk:
    """Make a dialogue of roles like UAUA; the texts are u1, a2 ..."""
    time = "2012-03-04T05:06:07.890"
    utterances = [
        {
            "utterance": f"{role.lower()}{at}",
            "utterance_time": time,
            "utterance_pos": positions[at - 1] if positions else at,
        }
        | {
            "actor_type": {"U": "user", "A": "agent"}[role],
            "user_name": role,
            "user_id": float(ord(role)),
            "votes": "1",
        }
        | {"id": "11" if at == 1 else f"12-{at - 1}.0", "is_answer": 0}
        for at, role in enumerate(roles, 1)
    ]
    about = {"category": "apple", "title": "why?", "dialog_time": time, "has_concatenated_utterances": 0}
    return about | {"utterances": utterances}


def labelled(talk: Talk, *intents: Any) -> Talk:
    """Mark a dialogue as labelled; None stands for an utterance without intents."""
    utterances = [
        utterance if some is None else utterance | {"intent": some}
        for utterance, some in zip(talk["utterances"], intents, strict=True)
    ]
    return talk | {"has_intent_labels": True, "utterances": utterances}


def negatives(number: int) -> Callable[[], list[str]]:
    return lambda: [f"n{index}" for index in range(2, 2 + number)]


def written(files: Files) -> dict[str, bytes]:
    return {name: raw if isinstance(raw, bytes) else json.dumps(raw).encode() for name, raw in files.items()}


def ranked(split: str, number: int, rows: list[Line], newline: str = "\n") -> dict[str, bytes]:
    name = f"data_{split}{RANKED[number]}"
    return {f"{name}.tsv": rules.tsv(rows, newline), f"{name}_lookup.txt": rules.lookup(rows, newline)}


@pytest.fixture
def load(build_data: Build, tmp_path: Path) -> Load:
    numbers = count()

    def run(files: Files) -> duckdb.DuckDBPyConnection:
        folder = tmp_path / f"files_{next(numbers)}"
        con = build_data(lay(files, folder))
        assert_comes_back(con, CORPUS, written(files), folder / "out")
        return con

    return run


def lay(files: Files, folder: Path) -> Path:
    raw = folder / "data" / "mantis"
    raw.mkdir(parents=True)
    for name, content in written(files).items():
        (raw / name).write_bytes(content)
    return folder / "data"


def found(con: duckdb.DuckDBPyConnection, view: str, columns: str, split: str = "train") -> list[tuple[Any, ...]]:
    query = f"select {columns} from mantis.{view} where split = ? order by example_index"
    return con.execute(query, [split]).fetchall()


def findings_of(con: duckdb.DuckDBPyConnection, rule: str) -> list[tuple[str, str]]:
    query = "select severity, detail from meta.findings where rule = ? order by finding_index"
    return con.execute(query, [rule]).fetchall()


def rules_broken(con: duckdb.DuckDBPyConnection) -> set[str]:
    """Return the rules that have findings, but for files and links that are not there, which tests leave out."""
    query = "select rule from meta.findings where rule <> 'MA-01' and detail not like '%have no link%'"
    return {rule for (rule,) in con.execute(query).fetchall()}


def expected(rows: list[Line]) -> list[tuple[Any, ...]]:
    return [(index, row.turn_index, row.label, row.context, row.candidate) for index, row in enumerate(rows)]


# Response ranking.


@pytest.mark.parametrize("number", [10, 2], ids=["as published", "as in the worked example"])
def test_worked_example(number: int, load: Load) -> None:
    talks = {"0": spoken("UAUAUA")}
    rows = rules.lines(talks, negatives(number))
    con = load({"merged_train.json": talks} | ranked("train", 10, rows))
    first, second = ["u1", "a2", "u3"], ["u1", "a2", "u3", "a4", "u5"]
    assert found(con, "response_ranking_train", RESPONSES) == [(3, first, "a4"), (5, second, "a6")]
    wrong = negatives(number)()
    table = [(3, first, text) for text in ["a4", *wrong]] + [(5, second, text) for text in ["a6", *wrong]]
    lines = [
        (row, turn, int(row % (number + 1) == 0), context, text) for row, (turn, context, text) in enumerate(table)
    ]
    assert found(con, "response_ranking_10_train", ROWS) == lines == expected(rows)
    keys = "split, standard_split, example_index, dialogue_id, native_id, record_id"
    places = found(con, "response_ranking_10", keys)
    assert places[number + 1] == ("train", "train", number + 1, "mantis:train:0", "0", "mantis/mantis_10/train/1")
    assert found(con, "response_ranking_50", ROWS) == []
    assert rules_broken(con) == (set() if number == 10 else {"MA-06"})
    assert {severity for severity, _ in findings_of(con, "MA-06")} <= {"warn"}


@pytest.mark.slow
def test_every_pattern_of_roles(load: Load) -> None:
    patterns = ["".join(roles) for length in range(1, 8) for roles in product("UA", repeat=length) if "U" in roles]
    patterns += [pattern[:length] for length in range(14, 31) for pattern in ("UA" * 15, "UAA" * 10, "UUA" * 10)]
    talks = {str(index): spoken(pattern) for index, pattern in enumerate(patterns)}
    rows = rules.lines(talks, negatives(10))
    con = load({"merged_train.json": talks} | ranked("train", 10, rows))
    pairs = [(key, *row) for key, talk in talks.items() for row in rules.contexts(talk)]
    assert found(con, "response_ranking", f"native_id, {RESPONSES}") == pairs
    assert found(con, "response_ranking_10", ROWS) == expected(rows)
    assert len(pairs) > 500
    assert findings_of(con, "MA-07") == []


@pytest.mark.slow
def test_the_published_number_decides(load: Load) -> None:
    turns = {
        (1, 2, 6, 4, 5, 6): [],
        (1, 2, 9, 4, 5, 6): [5, 5],
        (1, 2, 0, 4, 5, 6): [5],
        (1, 2, 3, 4, 4, 6): [4, 4],
        (1, 2, 5, 4, 1, 6): [5, 4],
        (0, 1, 2, 3, 4, 5): [3, 5],
    }
    talks = {str(index): spoken("UAUAUA", [*positions]) for index, positions in enumerate(turns)}
    con = load({"merged_train.json": talks})
    rows = found(con, "response_ranking", f"native_id, {RESPONSES}")
    assert [(key, turn) for key, turn, *_ in rows] == [
        (str(index), turn) for index, some in enumerate(turns.values()) for turn in some
    ]
    assert rows == [(key, *row) for key, talk in talks.items() for row in rules.contexts(talk)]
    assert [row[2:] for row in rows if row[0] == "5"] == [(["a2", "u3"], "a4"), (["a2", "u3", "a4", "u5"], "a6")]
    query = "select severity, record_id from meta.findings where rule = 'MA-03' order by all"
    assert con.execute(query).fetchall() == [("warn", f"mantis/merged/train/{key}") for key in talks]


def test_files_of_sites_are_read_where_none_is_merged(tmp_path: Path) -> None:
    talks, other = {"0": spoken("UAUA"), "1": spoken("UAUAUA")}, {"0": spoken("UAUAU")}
    folder = tmp_path / "data" / "mantis"
    for name, some in (
        ("travel/data_train.json", talks),
        ("diy/data_train.json", other),
        ("travel/data_dev.json", {"2": spoken("UAUA")}),
        ("travel/data.json", talks),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(some))
    build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data")
    with talkhouse.open(tmp_path / "w.duckdb") as con:
        query = "select split, standard_split, native_id, dialogue_id from mantis.response_ranking order by all"
        assert con.execute(query).fetchall() == [
            ("dev", "validation", "travel/2", "mantis:dev:travel/2"),
            ("train", "train", "diy/0", "mantis:train:diy/0"),
            ("train", "train", "travel/0", "mantis:train:travel/0"),
            ("train", "train", "travel/1", "mantis:train:travel/1"),
            ("train", "train", "travel/1", "mantis:train:travel/1"),
        ]
        note = "select note from meta.source_files where path like '%travel/data.json'"
        assert con.execute(note).fetchall() == [("its dialogues are in the files of its splits",)]
        write_back(con, CORPUS, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "travel" / "data_train.json").read_text()) == talks
    (folder / "merged_train.json").write_text(json.dumps(talks))
    build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data")
    with talkhouse.open(tmp_path / "w.duckdb") as con:
        query = (
            "select split, count(*) from main.dialogues join main.records using (dialogue_id) group by all order by all"
        )
        assert con.execute(query).fetchall() == [("dev", 1), ("train", 2)]


@pytest.mark.slow
def test_the_intent_file_stands_in_for_what_the_complete_file_lacks(load: Load) -> None:
    broken: Any = {"category": "apple"}
    con = load(
        {
            "merged_train.json": {"0": spoken("UAUA"), "1": broken, "2": spoken("UAUA")},
            "merged_train_intents.json": {"0": spoken("UAUAUA"), "1": spoken("UAUA"), "2": spoken("UAUA")},
        }
    )
    assert found(con, "response_ranking", "record_id") == [
        (f"mantis/{subset}/train/{index}",) for index, subset in enumerate(["merged", "intents", "merged"])
    ]
    assert [severity for severity, _ in findings_of(con, "MA-09")] == ["warn"]
    assert con.execute("select count(*) from main.dialogues where native_id = '0'").fetchall() == [(2,)]


# Response ranking files that are not as they should be.


@pytest.mark.slow
def test_a_ranking_without_dialogues_has_its_own_words(load: Load) -> None:
    rows = rules.lines({"0": spoken("UAUAUA"), "1": spoken("UAUA")}, negatives(10))
    con = load(ranked("train", 10, rows))
    own = [(index, None, row.label, row.context, row.candidate) for index, row in enumerate(rows)]
    assert found(con, "response_ranking_10", ROWS) == own
    assert {key for (key,) in found(con, "response_ranking_10", "dialogue_id")} == {None}
    assert [key for (key,) in found(con, "response_ranking_10", "native_id")] == [row.key for row in rows]
    assert any("merged_train.json" in detail for _, detail in findings_of(con, "MA-01"))
    assert {severity for severity, _ in findings_of(con, "MA-01")} == {"warn"}
    assert con.execute("select count(*) from mantis.response_ranking").fetchall() == [(0,)]


@pytest.mark.slow
def test_a_ranking_without_lookup_has_its_own_words(load: Load) -> None:
    talks = {"0": spoken("UAUAUA")}
    rows = rules.lines(talks, negatives(10))
    con = load({"merged_train.json": talks} | {"data_train_easy.tsv": rules.tsv(rows)})
    lines = found(con, "response_ranking_10", "native_id, label, context, candidate")
    assert lines == [(None, row.label, row.context, row.candidate) for row in rows]
    assert found(con, "intent_per_row", "reference_intent, aligned_intent, context_intent") == [(None,) * 3] * 22
    assert any("data_train_easy_lookup.txt" in detail for _, detail in findings_of(con, "MA-01"))


@pytest.mark.slow
def test_a_row_that_is_not_the_dialogues_keeps_its_own_words(load: Load) -> None:
    talks = {"0": spoken("UAUAUA"), "1": spoken("UAUA")}
    rows = rules.lines(talks, negatives(10))
    another_context = [row._replace(context=["u1", "other", "u3"]) for row in rows[:11]] + rows[11:]
    another_candidate = [rows[0]._replace(candidate="another answer"), *rows[1:]]
    files: Files = {"merged_train.json": talks, "merged_dev.json": talks}
    con = load(files | {**ranked("train", 10, another_context), **ranked("dev", 10, another_candidate)})
    findings = con.execute("select severity, record_id from meta.findings where rule = 'MA-07'").fetchall()
    for split, some in (("train", another_context), ("dev", another_candidate)):
        lines = found(con, "response_ranking_10", "native_id, label, context, candidate", split)
        assert lines == [(row.key, row.label, row.context, row.candidate) for row in some]
        assert ("warn", f"mantis/mantis_10/{split}/0") in findings


@pytest.mark.slow
def test_a_dialogue_with_fewer_blocks_than_contexts_is_told(load: Load) -> None:
    talks = {"0": spoken("UAUAUA"), "1": spoken("UAUA")}
    rows = rules.lines(talks, negatives(10))
    con = load({"merged_train.json": talks} | ranked("train", 10, rows[:11] + rows[22:]))
    ((severity, detail),) = findings_of(con, "MA-07")
    assert severity == "warn"
    assert "1 dialogues of train" in detail
    assert "the first is 0 with 1 blocks for 2 contexts" in detail
    assert found(con, "response_ranking_10", "row_index, example_index") == [(index, index) for index in range(22)]


# Intents.


def test_labels_of_the_table_as_in_the_worked_example(load: Load) -> None:
    rows = [("7", "2", "PA,FD", "train"), ("7", "3", "GG", "train"), ("7", "4", "PF", "dev")]
    talks = {"6": spoken("UAUA"), "7": spoken("UAUA")}
    con = load({"merged_train.json": talks, "merged_dev.json": talks, "labels.csv": rules.table(rows)})
    assert found(con, "intent_prediction", f"native_id, {INTENTS}") == [
        ("7", 0, "u1", ["OQ"]),
        ("7", 1, "a2", ["PA", "FD"]),
        ("7", 2, "u3", ["GG"]),
    ]
    assert found(con, "intent_prediction", INTENTS, "dev") == [(0, "u1", ["OQ"]), (3, "a4", ["PF"])]
    for split in ("train", "dev"):
        assert found(con, "intent_prediction", f"native_id, {INTENTS}", split) == rules.intents(
            split, rules.merged(split, talks, rows)
        )
    unlabelled = [detail for _, detail in findings_of(con, "MA-08") if "no intents" in detail]
    assert len(unlabelled) == 2
    assert "mantis:train:7" in unlabelled[0] + unlabelled[1]


@pytest.mark.slow
def test_a_later_row_overwrites_and_the_first_utterance_may_be_labelled(load: Load) -> None:
    rows = [
        ("0", "2", "PA", "train"),
        ("1", "1", "IR, OQ", "train"),
        ("0", "2", "FD,GG", "train"),
        ("1", "2", "", "train"),
        ("0", "1", "FQ", "train"),
    ]
    talks = {"0": spoken("UA"), "1": spoken("UA")}
    con = load({"merged_train.json": talks, "labels.csv": rules.table(rows)})
    labels = found(con, "intent_prediction", f"native_id, {INTENTS}")
    assert labels == rules.intents("train", rules.merged("train", talks, rows))
    assert labels[0] == ("0", 0, "u1", ["FQ"])
    assert labels[2:] == [("1", 0, "u1", ["IR", " OQ"]), ("1", 1, "a2", [""])]


@pytest.mark.slow
def test_the_intent_file_is_taken_before_the_table(load: Load) -> None:
    talks = {"0": labelled(spoken("UA"), ["OQ"], ["PA"])}
    rows = rules.table([("0", "2", "GG", "train"), ("0", "2", "GG", "dev")])
    con = load({"merged_train_intents.json": talks, "merged_dev.json": {"0": spoken("UA")}, "labels.csv": rows})
    assert found(con, "intent_prediction", INTENTS) == [(0, "u1", ["OQ"]), (1, "a2", ["PA"])]
    assert found(con, "intent_prediction", INTENTS, "dev") == [(0, "u1", ["OQ"]), (1, "a2", ["GG"])]


@pytest.mark.slow
def test_the_authors_leave_one_dialogue_out(load: Load) -> None:
    talks = {key: labelled(spoken("UA"), ["OQ"], ["PA"]) for key in ("10298", "3")}
    con = load({f"merged_{split}_intents.json": talks for split in ("train", "dev")})
    assert [key for (key,) in found(con, "intent_prediction", "native_id")] == ["3", "3"]
    assert [key for (key,) in found(con, "intent_prediction", "native_id", "dev")] == ["10298", "10298", "3", "3"]
    assert con.execute("select count(*) from mantis.utterance_intents where native_id = '10298'").fetchall() == [(4,)]


@pytest.mark.slow
def test_an_unlabelled_utterance_is_no_example_and_an_empty_list_is_one(load: Load) -> None:
    marked = labelled(spoken("UAUAU"), ["OQ"], None, [], ["PA", "GG", "PA"], ["PF"])
    marked["utterances"][4]["intent"] = None
    unmarked = spoken("UA")
    unmarked["utterances"][0]["intent"] = ["OQ"]
    con = load({"merged_train_intents.json": {"0": marked, "1": unmarked}})
    assert found(con, "intent_prediction", INTENTS) == [(0, "u1", ["OQ"]), (2, "u3", []), (3, "a4", ["PA", "GG", "PA"])]
    refused = """
        select turn_index from meta.findings
        where rule = 'MA-08' and severity = 'reject_example' and task = 'intent_prediction' order by all
    """
    assert con.execute(refused).fetchall() == [(1,), (4,)]
    assert con.execute("select has_intent_labels from mantis.utterance_intents where native_id = '1'").fetchall() == [
        (False,)
    ]


@pytest.mark.slow
def test_the_authors_intents_drift_along_the_rows(load: Load) -> None:
    talks = {"0": labelled(spoken("UA" * 5), *([f"i{number}"] for number in range(1, 11))), "1": spoken("UAUA")}
    rows = rules.lines(talks, negatives(10))
    con = load({"merged_train_intents.json": talks} | ranked("train", 10, rows))
    lines = found(con, "intent_per_row", "row_index, reference_intent, aligned_intent, context_intent")
    assert [row for row, *_ in lines] == list(range(55))
    reference = [some and some[0] for _, some, *_ in lines]
    aligned = [some and some[0] for _, _, some, _ in lines]
    assert reference[:11] == ["i3"] * 11
    assert reference[11:44] == ["i5"] * 10 + ["i7"] * 10 + ["i9"] * 10 + [None] * 3
    assert aligned[:44] == [label for label in ("i3", "i5", "i7", "i9") for _ in range(11)]
    assert [some and some[0] for *_, some in lines] == aligned
    assert reference[44:] == aligned[44:] == [None] * 11
    keys = [row.key for row in rows]
    assert [pair for _, *pair, _ in lines] == [list(pair) for pair in rules.row_intents(keys, 10, 11, talks)]


# Views for BI tools, links and checks.


@pytest.mark.parametrize(("text", "links"), data_of(__file__)["links_are_found_once"])
def test_links_are_found_once(text: str, links: list[str], con: duckdb.DuckDBPyConnection) -> None:
    assert con.execute("select mantis.links(?)", [text]).fetchall() == [(links,)]


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://www.Example.org/a?b#c", "example.org"),
        ("//i.example.net:80/x", "i.example.net"),
        ("http://me@www2.example.org", "www2.example.org"),
        ("/questions/1", None),
        ("mailto:me@example.org", None),
    ],
)
def test_the_host_of_an_address(address: str, host: str | None, con: duckdb.DuckDBPyConnection) -> None:
    assert con.execute("select mantis.host(?)", [address]).fetchall() == [(host,)]


@pytest.mark.slow
def test_only_agents_turns_are_grounded(load: Load) -> None:
    talk = spoken("UAUA")
    for utterance in talk["utterances"]:
        utterance["utterance"] = 'x <a href="https://www.a.org/1">one http://b.org/2, three'
    con = load({"merged_train.json": {"0": talk}})
    links = con.execute("select turn_index, link_index, url, site from mantis.hyperlinks order by all").fetchall()
    pair = [(0, "https://www.a.org/1", "a.org"), (1, "http://b.org/2", "b.org")]
    assert links == [(turn, *link) for turn in (1, 3) for link in pair]
    grounded = "select linked_site, agent_turn_count, grounded_turn_count, link_count, turn_count, rank "
    grounded += "from bi.mantis_grounding_by_site order by all"
    assert con.execute(grounded).fetchall() == [("a.org", 2, 2, 2, 2, 1), ("b.org", 2, 2, 2, 2, 1)]
    assert con.execute("select link_count from bi.mantis_utterances").fetchall() == [(2,)] * 4


@pytest.mark.slow
def test_utterances_say_what_their_fields_mean(load: Load) -> None:
    cases: list[tuple[Talk, tuple[Any, ...]]] = [
        ({"id": "11-101.0", "votes": "-3", "is_answer": 1, "user_id": 4376.0}, (11, 101, -3, True, "4376", "A")),
        ({"id": "11_101", "votes": 7, "is_answer": "0", "user_id": "x:y"}, (11, 101, 7, False, "x:y", "A")),
        ({"id": "11", "votes": "many", "user_id": None}, (11, None, None, False, None, "A")),
        ({"id": "eleven", "user_id": float("nan"), "user_name": float("nan")}, (None, None, 1, False, None, None)),
    ]
    talks = {str(index): spoken("UAUA") for index in range(len(cases))}
    for talk, (fields, _) in zip(talks.values(), cases, strict=True):
        talk["utterances"][1] |= fields
    con = load({"merged_train.json": talks})
    columns = "post_id, comment_id, votes, is_answer, user_id, user_name"
    query = f"select {columns} from bi.mantis_utterances where turn_index = 1 order by dialogue_id"
    assert con.execute(query).fetchall() == [row for _, row in cases]


def test_intents_are_counted_by_place_and_by_pair(con: duckdb.DuckDBPyConnection) -> None:
    rows = con.execute(
        "select split, site, role, turn_index, intents from mantis.utterance_intents "
        "inner join bi.mantis_utterances using (split, dialogue_id, turn_index)"
    ).fetchall()
    places = Counter((*place, intent) for *place, intents in rows for intent in set(intents))
    counted = con.execute(
        "select split, site, role, turn_index, intent, utterance_count from bi.mantis_intents_by_domain"
    ).fetchall()
    assert {tuple(place): number for *place, number in counted if number} == places
    assert len(counted) == len({tuple(place) for *place, _ in rows}) * len({intent for *_, intent in places})
    pairs = Counter(
        (split, intent, other)
        for split, *_, intents in rows
        for intent in set(intents)
        for other in set(intents)
        if intent < other
    )
    counted = con.execute(
        "select split, intent, other_intent, both_count from bi.mantis_intent_cooccurrence"
    ).fetchall()
    assert {tuple(pair): number for *pair, number in counted if number} == pairs
    assert {(*pair, split) for _, *pair in pairs for split, *_ in pairs} == {
        (*pair, split) for split, *pair, _ in counted
    }


def test_votes_of_answers_leave_out_comments(load: Load) -> None:
    talks = {str(index): spoken("UAUA") for index in range(4)}
    for talk, votes, is_answer in zip(talks.values(), ["5", "0", "-1", "?"], [0, 0, 1, 0], strict=True):
        talk["utterances"][1] |= {"id": "12", "votes": votes, "is_answer": is_answer}
    con = load({"merged_train.json": talks})
    query = "select answer_count, voted_count, min_votes, median_votes, max_votes, unvoted_count, negative_count, "
    query += "accepted_count from bi.mantis_answer_votes"
    assert con.execute(query).fetchall() == [(4, 3, -1, 0, 5, 1, 1, 1)]


@pytest.mark.slow
def test_a_dialogue_out_of_time_is_told(load: Load) -> None:
    talks = {str(index): spoken("UAUA") for index in range(3)}
    talks["1"]["dialog_time"] = "2011-01-01T00:00:00.000"
    talks["2"]["category"] = "travel"
    talks["2"]["dialog_time"] = "2010-01-01T00:00:00.000"
    con = load({"merged_train.json": talks})
    query = "select severity, record_id from meta.findings where rule = 'MA-04' and detail like '%before dialogue%'"
    assert con.execute(query).fetchall() == [("warn", "mantis/merged/train/1")]


# Invented corpora: the rows are those of the rules, and every file comes back equal.

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), max_size=12)


def words(talk: Talk) -> list[tuple[str, str]]:
    return [(utterance["actor_type"], utterance["utterance"]) for utterance in talk["utterances"]]


def intents_of_contexts(rows: list[Line], talks: Talks, marked: Talks) -> list[list[str] | None]:
    """Return the intents of the utterance that each row's context ends with, where both files have the same words."""
    known = rules.labelled(marked)
    return [
        known[row.key][row.turn_index - 1]
        if row.key in known and words(talks[row.key]) == words(marked[row.key])
        else None
        for row in rows
    ]


@pytest.mark.slow
@invented_builds(10)
@given(texts=st.lists(TEXT, min_size=8, max_size=20, unique=True), seed=st.integers(0, 2**32))
def test_invented_corpora_give_the_rows_of_the_rules_and_come_back_equal(
    texts: list[str], seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    inventor = Inventor(texts, seed)
    folder = tmp_path_factory.mktemp("talks")
    talks = {split: inventor.talks() for split in SPLITS}
    marked = {split: inventor.marked(some) for split, some in talks.items()}
    files: Files = {f"merged_{split}.json": some for split, some in talks.items()}
    files |= {f"merged_{split}_intents.json": some for split, some in marked.items()}
    lines: dict[tuple[str, int], list[Line]] = {}
    for split, number in product(SPLITS, RANKED):
        rows = rules.lines(talks[split], lambda number=number: inventor.negatives(number))  # type: ignore[misc]
        lines[split, number] = rows
        files |= ranked(split, number, rows)
    build(folder / "w.duckdb", Silent(), data=lay(files, folder), limit=QuarantineLimit("0"))
    with talkhouse.open(folder / "w.duckdb") as con:
        for split in SPLITS:
            pairs = [(key, *row) for key, talk in talks[split].items() for row in rules.contexts(talk)]
            assert found(con, "response_ranking", f"native_id, {RESPONSES}", split) == pairs
            labels = rules.intents(split, marked[split])
            assert found(con, "intent_prediction", f"native_id, {INTENTS}", split) == labels
        for (split, number), rows in lines.items():
            assert found(con, f"response_ranking_{number}", ROWS, split) == expected(rows)
            keys = [row.key for row in rows]
            both = rules.row_intents(keys, number, number + 1, marked[split])
            ends = intents_of_contexts(rows, talks[split], marked[split])
            query = f"intent_per_row where candidate_set = 'mantis_{number}' and split = '{split}' order by row_index"
            columns = "row_index, example_index, native_id, reference_intent, aligned_intent, context_intent"
            assert con.execute(f"select {columns} from mantis.{query}").fetchall() == [
                (row, row, key, *pair, end) for row, (key, pair, end) in enumerate(zip(keys, both, ends, strict=True))
            ]
        assert_comes_back(con, CORPUS, written(files), folder / "out")
