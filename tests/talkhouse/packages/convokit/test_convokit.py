"""Packages for ConvoKit: every turn, speaker, dialogue and label of the tables is in the files, to the character."""

import hashlib
import json
import shutil
from itertools import count
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import talkhouse
from talkhouse.export.selection import Filters
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.schema.errors import UsageError
from tests.commands import run
from tests.conftest import invented_builds
from tests.data_files import data_of
from tests.lanes import first_quick
from tests.samples import GROUPS, PICTURES, POSTS, RELEASES, SUGGESTIONS
from tests.talkhouse.packages.convokit.files import Files, check, export, labels_of

CORPORA = [PICTURES, RELEASES, GROUPS, POSTS, SUGGESTIONS]


@pytest.mark.parametrize("corpus_id", first_quick(CORPORA))
def test_the_files_have_all_that_the_tables_have(sample: Path, tmp_path: Path, corpus_id: str) -> None:
    written = export(sample, corpus_id, tmp_path / "out")
    with talkhouse.open(sample) as con:
        check(tmp_path / "out", con, corpus_id)
    names = {path.name: path for path in (tmp_path / "out").iterdir()}
    data = {"utterances.jsonl", "speakers.json", "conversations.json", "corpus.json", "index.json"}
    assert names.keys() == data | {"LICENSE.md", "CITATION.cff", "citation.bib", "manifest.json"}
    assert {file["path"] for file in json.loads(names["manifest.json"].read_text())["files"]} == data
    for file in written.files:
        assert hashlib.sha256(names[file["path"]].read_bytes()).hexdigest() == file["sha256"]


@pytest.mark.slow
def test_labels_are_where_they_belong(sample: Path, tmp_path: Path) -> None:
    export(sample, GROUPS, tmp_path / GROUPS)
    metas = [utterance["meta"] for utterance in Files.read(tmp_path / GROUPS).utterances]
    assert {type(meta["label_type"]) for meta in metas} <= {str, type(None)}
    assert {type(meta["label_team_performance"]) for meta in metas} == {float}
    assert {type(meta["label_tracker"]) for meta in metas} == {list}
    export(sample, SUGGESTIONS, tmp_path / SUGGESTIONS)
    talks = Files.read(tmp_path / SUGGESTIONS)
    chosen = [meta["meta"] for meta in talks.utterances if meta["meta"]["label_chosen_suggestion"]]
    assert any(meta["about_chosen_suggestion"]["extra"] for meta in chosen)
    assert talks.corpus["left_out"]["labels"] == 0
    assert any(utterance["meta"]["label_knowledge"] for utterance in talks.utterances)
    export(sample, POSTS, tmp_path / POSTS)
    assert "label_intent" in Files.read(tmp_path / POSTS).index["utterances-index"]


def changed(sample: Path, folder: Path, *statements: str) -> Path:
    path = Path(shutil.copyfile(sample, folder / "w.duckdb"))
    with duckdb.connect(path) as con:
        for statement in statements:
            con.execute(statement)
    return path


def checked(database: Path, corpus_id: str, output: Path) -> Files:
    export(database, corpus_id, output)
    with talkhouse.open(database) as con:
        return check(output, con, corpus_id)


ODD = ["", " ", "\r\n", "x\ny", "\0", "a\0b", "\u2028", "\u2029", "\u0085", "\ufeff", "\x7f", "\\", '"', "\ufffe", "😀"]
TEXTS = st.sampled_from(ODD) | st.text(max_size=20)
TIMES = st.none() | st.datetimes()


@pytest.mark.slow
@given(st.lists(st.tuples(TEXTS, TIMES, st.booleans()), min_size=1, max_size=30))
@invented_builds(60)
def test_odd_texts_missing_times_and_speakers(
    sample: Path, tmp_path: Path, rows: list[tuple[str, object, bool]]
) -> None:
    database = changed(sample, tmp_path)
    with duckdb.connect(database) as con:
        turns = con.execute(
            f"select dialogue_id, turn_index from main.turns where starts_with(dialogue_id, '{POSTS}:')"
        ).fetchall()
        for (dialogue_id, turn_index), (text, said_at, has_speaker) in zip(turns, rows, strict=False):
            con.execute(
                "update main.turns set text = $1, said_at = $2, native_id = $1, extra = json_object('x', $1::varchar), "
                "speaker_id = case when $3 then speaker_id end where dialogue_id = $4 and turn_index = $5",
                [text, said_at, has_speaker, dialogue_id, turn_index],
            )
    shutil.rmtree(tmp_path / "out", ignore_errors=True)
    checked(database, POSTS, tmp_path / "out")


@pytest.mark.slow
def test_texts_come_back_to_the_character(sample: Path, tmp_path: Path) -> None:
    database = changed(
        sample, tmp_path, f"insert into main.dialogues (dialogue_id, corpus_id) values ('{POSTS}:odd', '{POSTS}')"
    )
    turn = (
        f"insert into main.turns (dialogue_id, turn_index, role, kind, text) values ('{POSTS}:odd', ?, 'user', '', ?)"
    )
    with duckdb.connect(database) as con:
        con.executemany(turn, [[index, text] for index, text in enumerate(ODD)])
    files = checked(database, POSTS, tmp_path / "out")
    assert [each["text"] for each in files.utterances if each["conversation_id"] == f"{POSTS}:odd"] == ODD
    assert files.speakers[f"{POSTS}:odd/unknown"]["meta"] == {
        "kind": None, "is_ai": False, "is_missing": True, "name": None, "native_id": None, "is_anonymous": True,
        "personas": None, "extra": None,
    }  # fmt: skip


@pytest.mark.slow
def test_numbers_are_exact(sample: Path, tmp_path: Path) -> None:
    numbers = [0.1, 1e300, -5e-324, 123456789.123456789, 2.0**53]
    extra = '{"n": 12345678901234567890123, "x": 1.50}'
    database = changed(sample, tmp_path, f"update main.dialogues set extra = '{extra}'")
    performance = f"main.annotations where scheme = '{GROUPS}.team_performance'"
    with duckdb.connect(database) as con:
        keys = con.execute(f"select record_id, turn_index from {performance} order by all").fetchall()
        for key, number in zip(keys, numbers, strict=False):
            condition = f"scheme = '{GROUPS}.team_performance' and record_id = ? and turn_index = ?"
            con.execute(f"update main.annotations set value = ? where {condition}", [number, *key])
    files = checked(database, GROUPS, tmp_path / "out")
    assert [meta["meta"]["label_team_performance"] for meta in files.utterances][: len(numbers)] == numbers
    assert extra in (tmp_path / "out" / "conversations.json").read_text()


@pytest.mark.slow
def test_a_speaker_who_is_called_unknown_stays_apart(sample: Path, tmp_path: Path) -> None:
    own = f"{POSTS}:askubuntu/unknown"
    database = changed(
        sample,
        tmp_path,
        "insert into main.speakers (speaker_id, corpus_id, kind, is_anonymous) "
        f"values ('{own}', '{POSTS}', 'human', true)",
        f"update main.turns set speaker_id = '{own}' where starts_with(dialogue_id, '{POSTS}:') and turn_index = 0",
        f"update main.turns set speaker_id = null where starts_with(dialogue_id, '{POSTS}:') and turn_index = 1",
    )
    export(database, POSTS, tmp_path / "out")
    files = Files.read(tmp_path / "out")
    assert files.speakers[own]["meta"]["is_missing"] is False
    missing = {name for name, speaker in files.speakers.items() if speaker["meta"]["is_missing"]}
    assert missing == {f"{dialogue_id}/unknown~" for dialogue_id in files.conversations}


@pytest.mark.slow
def test_a_scheme_without_labels_has_its_key(sample: Path, tmp_path: Path) -> None:
    database = changed(sample, tmp_path, f"delete from main.annotations where scheme = '{RELEASES}.ungrammatical'")
    files = checked(database, RELEASES, tmp_path / "out")
    assert {utterance["meta"]["label_ungrammatical"] for utterance in files.utterances} == {None}


@pytest.mark.slow
def test_labels_of_dialogues_are_in_the_conversations(sample: Path, tmp_path: Path) -> None:
    of_dialogues = f"update main.annotations set turn_index = null where scheme = '{GROUPS}.type' and turn_index = 1"
    files = checked(changed(sample, tmp_path, of_dialogues), GROUPS, tmp_path / "out")
    assert any(dialogue["meta"]["label_type"] for dialogue in files.conversations.values())
    assert any(utterance["meta"]["label_type"] for utterance in files.utterances)


@pytest.mark.slow
def test_what_has_no_place_is_counted(sample: Path, tmp_path: Path) -> None:
    silent = f"insert into main.dialogues (dialogue_id, corpus_id) values ('{POSTS}:silent', '{POSTS}')"
    export(changed(sample, tmp_path, silent), POSTS, tmp_path / "out")
    files = Files.read(tmp_path / "out")
    assert f"{POSTS}:silent" not in files.conversations
    assert files.corpus["left_out"] == {
        "candidates": 930, "dialogues": 1, "labels": 0, "personas": 0, "records": 0, "images": 0
    }  # fmt: skip
    counts = {name: len(getattr(files, name)) for name in ("utterances", "speakers", "conversations")}
    assert files.corpus["counts"] == {**counts, "labels": labels_of(files, POSTS).total()}


@pytest.mark.slow
def test_replies_parts_spans_and_turns_that_several_say(filled: Path, tmp_path: Path) -> None:
    export(filled, PICTURES, tmp_path / "out")
    files = Files.read(tmp_path / "out")
    first = files.utterances[0]
    assert first["speaker"] == f"{first['conversation_id']}/together"
    people = [person["speaker_id"] for person in files.conversations[first["conversation_id"]]["meta"]["participants"]]
    assert first["meta"]["speakers"] == people
    assert files.speakers[first["speaker"]]["meta"]["is_missing"] is False
    assert first["meta"]["parts"][1]["arguments"] == {"zone": "UTC", "n": [1, 2.5]}
    second = files.utterances[1]
    assert (second["reply-to"], second["meta"]["reply_to"], second["meta"]["start_ms"]) == (first["id"], 0, 1000)
    assert second["meta"]["label_entailment"][0]["spans"] == [[0, 1]] * 3
    assert {each["meta"]["replies"] for each in files.conversations.values()} == {"published"}


TREE = data_of(__file__)["tree"]


@pytest.mark.slow
def test_a_declared_corpus_keeps_its_tree_unless_it_is_none(tmp_path: Path) -> None:
    def node(name: str, *replies: object) -> dict[str, object]:
        return {"message_id": name, "text": name, "role": "user", "replies": replies}

    folder = tmp_path / "data" / "trees"
    folder.mkdir(parents=True)
    (folder / "corpus.toml").write_text(TREE)
    (folder / "a.jsonl").write_text(json.dumps({"prompt": node("a", node("b", node("c")), node("d"))}) + "\n")
    build(tmp_path / "own.duckdb", Silent(), data=tmp_path / "data")
    numbers = count()

    def exported(*statements: str) -> Files:
        output = tmp_path / f"{next(numbers)}"
        export(changed(tmp_path / "own.duckdb", tmp_path, *statements), "trees", output)
        return Files.read(output)

    files = exported()
    ids = {utterance["text"]: utterance["id"] for utterance in files.utterances}
    assert {each["text"]: each["reply-to"] for each in files.utterances} == {
        "a": None, "b": ids["a"], "c": ids["b"], "d": ids["a"]
    }  # fmt: skip
    two_roots = "update main.turns set reply_to = null where text = 'd'"
    chain = exported(two_roots)
    assert {each["text"]: each["reply-to"] for each in chain.utterances}["d"] == ids["c"]
    assert {each["meta"]["replies"] for each in chain.conversations.values()} == {"order"}
    turned = exported("update main.turns set reply_to = 3 where text = 'a'", two_roots)
    assert {each["text"]: each["reply-to"] for each in turned.utterances} == {
        "a": ids["d"], "b": ids["a"], "c": ids["b"], "d": None
    }  # fmt: skip
    assert {each["meta"]["replies"] for each in turned.conversations.values()} == {"published"}
    loop = exported("update main.turns set reply_to = 2 where text = 'b'")
    assert {each["meta"]["replies"] for each in loop.conversations.values()} == {"order"}
    gap = exported("update main.turns set turn_index = 9, reply_to = 3 where text = 'd'")
    assert [each["reply-to"] for each in gap.utterances] == [None, *(each["id"] for each in gap.utterances[:-1])]


@pytest.mark.slow
def test_filters_take_records_with_what_came_with_them(sample: Path, tmp_path: Path) -> None:
    export(sample, RELEASES, tmp_path / "all")
    export(sample, RELEASES, tmp_path / "some", Filters(split="dev", release=RELEASES, subsets=("CIC_115", "YI_100")))
    whole, some = Files.read(tmp_path / "all"), Files.read(tmp_path / "some")
    for dialogue_id, conversation in some.conversations.items():
        (record,) = conversation["meta"]["records"]
        assert record["release"] == RELEASES
        assert record in whole.conversations[dialogue_id]["meta"]["records"]
    records = {record["record_id"] for each in some.conversations.values() for record in each["meta"]["records"]}
    labels = labels_of(some, RELEASES)
    assert labels == {label: count for label, count in labels_of(whole, RELEASES).items() if label[3] in records}
    assert 0 < len(some.utterances) < len(whole.utterances)


@pytest.mark.slow
@pytest.mark.parametrize("corpus_id", [PICTURES, RELEASES, POSTS])
def test_pseudonyms_are_the_same_in_all_files(sample: Path, tmp_path: Path, key: Path, corpus_id: str) -> None:
    export(sample, corpus_id, tmp_path / "out", key_file=key)
    export(sample, corpus_id, tmp_path / "plain")
    hidden, plain = Files.read(tmp_path / "out"), Files.read(tmp_path / "plain")
    people = {
        name: who["meta"]
        for name, who in plain.speakers.items()
        if not (who["meta"]["is_ai"] or who["meta"]["is_anonymous"])
    }
    annotators = {annotator for *_, annotator, _, _ in labels_of(plain, corpus_id)}
    ids = {*people, *annotators, *(meta[key] for meta in people.values() for key in ("native_id", "name"))} - {None, ""}
    written = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir())
    assert [name for name in ids if json.dumps(name) in written] == []
    assert len(hidden.speakers) == len(plain.speakers)
    assert [each["text"] for each in hidden.utterances] == [each["text"] for each in plain.utterances]
    for utterance in hidden.utterances:
        meta = hidden.conversations[utterance["conversation_id"]]["meta"]
        assert utterance["speaker"] in {
            participant["speaker_id"] for participant in meta["participants"] if participant["speaks"]
        }
    assert hidden.corpus["pseudonyms"]
    assert {**hidden.corpus, "pseudonyms": None} == {**plain.corpus, "pseudonyms": None}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "filters", "message"),
    [
        ("bi.turns", Filters(), "--for convokit exports corpora, and 'bi.turns' is not one"),
        ("dbdc", Filters(), RELEASES),
        (RELEASES, Filters(split="train"), f"no turn of {RELEASES} is wanted"),
        (RELEASES, Filters(where="dialogue_id is null"), f"main.records|no turn of {RELEASES} is wanted"),
        (RELEASES, Filters(where="no_column = 1"), "no_column"),
    ],
)
def test_what_can_not_be_exported(sample: Path, tmp_path: Path, name: str, filters: Filters, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        export(sample, name, tmp_path / "out", filters)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_two_exports_are_equal_whatever_the_locale_and_the_threads(sample: Path, tmp_path: Path) -> None:
    for name, locale in (("a", "C"), ("b", "C.UTF-8")):
        done = run(
            "export", RELEASES, "--for", "convokit", "--output", tmp_path / name, "--db", sample, env={"LC_ALL": locale}
        )
        assert (done.returncode, done.stderr) == (0, "")
    export(sample, RELEASES, tmp_path / "c")
    contents = [{path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in "abc"]
    assert contents[0] == contents[1] == contents[2]
    assert "utterances.jsonl: 107 rows" in done.stdout
