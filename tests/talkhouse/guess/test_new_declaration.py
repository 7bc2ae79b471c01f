"""What ``talkhouse new DIR`` writes: a declaration of what the files show, and nothing else."""

import gzip
import json
import tempfile
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from talkhouse.guess.guessed_folder import look, looks_like
from talkhouse.guess.new_declaration import new_declaration
from talkhouse.ingest.declared.declaration import of_folder
from talkhouse.ingest.declared.declaration.keys import schema_text
from talkhouse.schema.errors import SourceError, UsageError
from tests.talkhouse.guess.folders import (
    CHAT,
    DAY,
    DECLARATIONS,
    FOLDERS,
    LOG,
    PREFERENCE,
    SHAREGPT,
    THUMBS,
    lines,
    listed,
    messages,
    parquet,
    write,
)


def declared_in(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "corpus.toml").read_text(encoding="utf-8"))


def declared(folder: Path) -> dict[str, Any]:
    new_declaration(folder)
    return declared_in(folder)


def comments(folder: Path) -> str:
    lines = (folder / "corpus.toml").read_text(encoding="utf-8").splitlines()
    return "\n".join(line.partition("#")[2] for line in lines if "#" in line)


def splits(document: dict[str, Any]) -> dict[str, str | None]:
    return {entry["path"]: entry.get("split") for entry in document["files"]}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_is_declared_as_what_it_is(name: str, tmp_path: Path, regen: bool) -> None:
    folder = write(tmp_path / name, FOLDERS[name])
    seen = new_declaration(folder)
    text, golden = (folder / "corpus.toml").read_text(encoding="utf-8"), DECLARATIONS / f"{name}.toml"
    if regen:
        golden.write_text(text, encoding="utf-8", newline="\n")
    assert text == golden.read_text(encoding="utf-8")
    assert of_folder(folder).format == declared_in(folder)["format"]
    assert seen.trial is not None
    assert seen.trial.turns
    assert (seen.trial.set_aside, seen.trial.problem) == (0, None)


@pytest.mark.parametrize(
    ("path", "split"),
    [
        *(("train.jsonl", "train"), ("valid-00000-of-00002.jsonl", "valid"), ("my_dev.jsonl", "dev")),
        *(("Test/part1.jsonl", "test"), ("data.validation.jsonl", "validation"), ("train/test.jsonl", "test")),
        *(("training.jsonl", None), ("train_test.jsonl", None), ("latest.jsonl", None)),
    ],
)
def test_splits_are_words_in_names(path: str, split: str | None, tmp_path: Path) -> None:
    assert splits(declared(write(tmp_path / "talks", {path: lines(*CHAT)}))) == {path: split}


def test_what_stands_twice_is_no_id(tmp_path: Path) -> None:
    folder = write(tmp_path / "talks", {"a.parquet": parquet(LOG)})
    assert "id" not in declared(folder)["dialogue"]
    assert "no id: hash has a value twice in the sample" in comments(folder)
    twice = write(tmp_path / "fog_talks", {"a.jsonl": lines(*SHAREGPT, *SHAREGPT)})
    assert declared(twice)["dialogue"]["id"] == "", "the format would take it"


def test_what_nothing_takes_is_named_and_labels_are_proposed_in_comments(tmp_path: Path) -> None:
    moods = ("calm", "cross", "calm")
    records = [{**record, "mood": mood, "score": 1.5} for record, mood in zip(CHAT, moods, strict=True)]
    folder = write(tmp_path / "talks", {"a.jsonl": lines(*records), "photo.png": b"\x89PNG", "README.md": b"# Talks"})
    seen = new_declaration(folder)
    assert seen.guess is not None
    assert seen.guess.extra == ("topic", "mood", "score")
    assert seen.left == {"README.md": "notes", "photo.png": "no ending of a format that is known"}
    proposal = "\n".join(line for line in comments(folder).splitlines() if not line.startswith(" -"))
    assert ' scheme = "mood"' in proposal
    assert 'calm = ""' in proposal
    assert ' path = "photo.png"' in proposal
    assert "annotations" not in declared_in(folder)


def test_thumbs_are_labels_of_the_answer(tmp_path: Path) -> None:
    folder = write(tmp_path / "talks", {"a.jsonl": lines(*THUMBS)})
    (labels,) = declared(folder)["annotations"]
    assert (labels["on"], labels["label"], set(labels["labels"])) == ("response", "label", {"true", "false"})


def test_files_of_labels_are_no_dialogues(tmp_path: Path) -> None:
    turns = b"conv,who,text\nc1,ida,Row on now\nc1,ole,I do row\n"
    folder = write(tmp_path / "talks", {"train.csv": turns, "labels.csv": b"conv,utt,label\nc1,0,calm\nc1,1,calm\n"})
    assert splits(declared(folder)) == {"train.csv": "train"}
    assert ' holds = "annotations"' in comments(folder)


REPLIES = b"conv,utt_id,who,text,%s\nc1,1,ida,Row on now,\nc1,2,ole,I do row,1\nc1,3,ida,Slower then,2\n"


def test_a_reply_is_known_by_its_name_and_proven_by_its_values(tmp_path: Path) -> None:
    folder = write(tmp_path / "talks", {"a.csv": REPLIES % b"parent_id"})
    assert declared(folder)["turn"]["reply_to"] == "parent_id"
    assert "by its name; 2 of 2 values are ids of other turns of the dialogue" in comments(folder)
    lost = REPLIES.replace(b",1\n", b",7\n").replace(b",2\n", b",8\n") % b"parent_id"
    assert "reply_to" not in declared(write(tmp_path / "lost", {"a.csv": lost}))["turn"]


def test_numbers_that_occur_among_the_ids_of_turns_are_no_replies(tmp_path: Path) -> None:
    assert "reply_to" not in declared(write(tmp_path / "talks", {"a.csv": REPLIES % b"season"}))["turn"]
    rows = b"conv,utt_id,who,text,to\nc1,u1,ida,Row on now,\nc1,u2,ole,I do row,u1\nc1,u3,ida,Slower then,u2\n"
    folder = write(tmp_path / "words", {"a.csv": rows})
    assert "reply_to" not in declared(folder)["turn"]
    assert 'reply_to = "to"  # to decide: no name says so' in (folder / "corpus.toml").read_text(encoding="utf-8")


SCENES = b"season,episode,scene,n,who,words\n" + b"".join(
    b"%d,%d,%d,%d,ida,Row on.\n" % place for place in product((1, 2), repeat=4)
)


def test_of_several_columns_that_could_be_the_id_each_says_what_it_would_make(tmp_path: Path) -> None:
    folder = write(tmp_path / "talks", {"a.csv": SCENES})
    seen = new_declaration(folder)
    assert declared_in(folder)["dialogue"]["id"] == ["season", "episode", "scene"]
    (line,) = seen.to_decide
    assert line.startswith("dialogue.id: 8 dialogues of 2 turns; ")
    assert 'id = "episode": 2 dialogues of 8 turns' in line
    assert seen.trial is not None
    assert (seen.trial.dialogues, seen.trial.turns) == (8, 16)


def test_a_day_that_may_be_a_month_is_to_decide(tmp_path: Path) -> None:
    chat = b"[01/02/2026, 10:05] Ida: Hello\n[03/02/2026, 10:06] Ole: Hi\n"
    folder = write(tmp_path / "talks", {"chat.txt": chat})
    (line,) = new_declaration(folder).to_decide
    assert '"%d/%m/%Y, %H:%M" or said_at = "%m/%d/%Y, %H:%M"' in line
    assert "said_at" not in declared_in(folder)["turn"]


def test_records_of_several_lists_are_all_read_or_named(tmp_path: Path) -> None:
    splits_inside = {split: [{**CHAT[0], "id": split}] for split in ("train", "test")}
    all_of_them = write(tmp_path / "talks", {"a.json": json.dumps(splits_inside).encode()})
    seen = new_declaration(all_of_them)
    assert declared_in(all_of_them)["dialogue"]["record"] == "*[*]"
    assert seen.trial is not None
    assert seen.trial.dialogues == 2
    with_more = write(tmp_path / "others", {"a.json": json.dumps({"version": 1, **splits_inside}).encode()})
    assert new_declaration(with_more).problems == {"a.json": "test[*] has such records too, and is not read"}
    assert declared_in(with_more)["dialogue"]["record"] == "train[*]"


def test_an_episode_beside_the_id_of_a_dialogue_is_no_part_of_it(tmp_path: Path) -> None:
    rows = b"conv,episode,who,words\n1,1,ida,Row on.\n1,1,ole,I do.\n2,1,ida,And now?\n2,1,ole,So so.\n"
    folder = write(tmp_path / "talks", {"a.csv": rows})
    assert not new_declaration(folder).to_decide
    assert declared_in(folder)["dialogue"]["id"] == "conv"


@pytest.mark.parametrize(("other", "ids"), [("test", "split"), ("train-2", "file")])
def test_ids_that_begin_again_are_those_of_a_split_or_file(other: str, ids: str, tmp_path: Path) -> None:
    again = [{"id": "g0", "messages": messages("May I water it?", "At night.")}]
    folder = write(tmp_path / "talks", {"train-1.jsonl": lines(*CHAT), f"{other}.jsonl": lines(*again)})
    assert declared(folder)["dialogue"]["ids"] == ids
    assert f"1 of 3 ids have other words in another {ids}" in comments(folder)


def test_rows_that_say_no_dialogue_are_one_of_each_file(tmp_path: Path) -> None:
    folder = write(tmp_path / "talks", {f"boats/2026-01-0{n}.json": listed(*DAY) for n in (1, 2)})
    seen = new_declaration(folder)
    document = declared_in(folder)
    assert document["format"] == "turns"
    assert document["turn"] == {"text": "text", "speaker": "user", "said_at": "ts"}
    assert seen.to_decide == [
        "[dialogue]: folder = true, if the files of a folder are one dialogue: 2 in 1",
        "dialogue.id: no column says which dialogue, so that a file is one: 2 dialogues of 3 turns",
    ]
    assert seen.trial is not None
    assert (seen.trial.dialogues, seen.trial.turns, seen.trial.findings) == (2, 6, [])


def test_what_is_written_was_read_by_it(tmp_path: Path) -> None:
    bad = [{"id": "b", "messages": [{"role": "user", "content": 7}]}]
    many = [{"id": f"n{n}", "messages": messages("Hi", "")} for n in range(2_000)]
    folder = write(tmp_path / "talks", {"a.jsonl": lines(*CHAT, *bad), "b.jsonl": lines(*many)})
    trial = new_declaration(folder).trial
    assert trial is not None
    assert (trial.records, trial.set_aside, trial.dialogues, trial.empty) == (504, 1, 503, 500)
    assert trial.roles == {"user": 503, "assistant": 503}
    assert [(finding.rule, finding.count, finding.place) for finding in trial.findings] == [
        ("GF-01", 1, "a.jsonl#/3/messages/0/content")
    ]
    assert list(trial.first) == [("user", "May I prune it?"), ("assistant", "In spring.")]


def test_nothing_of_a_sample_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private = tmp_path / "temporary"
    private.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    many = [{"id": f"n{n}", "messages": messages("Hi", "Ho")} for n in range(1_001)]
    folder = write(tmp_path / "talks", {"a.jsonl.gz": gzip.compress(lines(*many)), "b.jsonl": lines(*many)})
    trial = new_declaration(folder).trial
    assert trial is not None
    assert (trial.records, trial.set_aside) == (1_000, 0)
    assert not list(private.iterdir())
    assert sorted(path.name for path in folder.iterdir()) == [
        *(".corpus.schema.json", "a.jsonl.gz", "b.jsonl", "corpus.toml")
    ]


@pytest.mark.parametrize(
    ("time", "form"),
    [
        *(("2026-02-01T10:00:00Z", None), ("1767261600", "unix"), ("1767261600123", "unix_ms")),
        *(("24.12.2026 18:00", "%d.%m.%Y %H:%M"), ("12/24/2026", "%m/%d/%Y"), ("01/02/2026", "%d/%m/%Y")),
    ],
)
def test_the_form_of_times(time: str, form: str | None, tmp_path: Path) -> None:
    rows = f"conv,who,text,time\nc1,ida,Row on now,{time}\nc1,ole,I do row,{time}\n".encode()
    document = declared(write(tmp_path / "talks", {"a.csv": rows}))
    assert document["turn"]["said_at"] == "time"
    assert document.get("times", {}).get("said_at") == form
    assert ("to do: it may be %m/%d/%Y as well" in comments(tmp_path / "talks")) == (time == "01/02/2026")


def test_many_files_are_patterns_which_fit_no_other_or_are_listed(tmp_path: Path) -> None:
    files = {f"{split}/part-{n:03}.jsonl": lines(CHAT[0]) for split in ("train", "test") for n in range(15)}
    document = declared(write(tmp_path / "talks", files))
    assert splits(document) == {"train/part-*.jsonl": "train", "test/part-*.jsonl": "test"}
    files = {f"{n:02}-{split}.jsonl": lines(CHAT[0]) for n in range(11) for split in ("train", "test")}
    files |= {f"{n:02}-train-x.jsonl": lines(CHAT[0]) for n in range(2)}
    document = declared(write(tmp_path / "no_pattern", files))
    assert splits(document) == {path: "train" if "train" in path else "test" for path in files}


def test_of_two_formats_the_other_is_left(tmp_path: Path) -> None:
    folder = write(tmp_path / "talks", {"chat.jsonl": lines(*CHAT), "pairs.jsonl": lines(PREFERENCE[0])})
    seen = new_declaration(folder)
    assert seen.files == [("chat.jsonl", None)]
    assert seen.left == {"pairs.jsonl": "looks like preference, with other fields"}


def test_only_one_of_file_and_field_is_the_split(tmp_path: Path) -> None:
    records = [{**record, "split": "train"} for record in CHAT]
    by_field = write(tmp_path / "talks", {"all.jsonl": lines(*records)})
    assert declared(by_field)["dialogue"]["split"] == "split"
    by_file = write(tmp_path / "talks2", {"train.jsonl": lines(*records)})
    assert "split" not in declared(by_file)["dialogue"]
    of_folder(by_file)


def test_of_no_known_format_a_skeleton_is_written(tmp_path: Path) -> None:
    folder = write(tmp_path / "talks", {"a.json": b'[{"n": 1}]', "b.txt": b"Ida: Row on.", "c.csv": b"x\n1\n"})
    assert declared(folder) == {"title": "Talks"}
    assert "to do: chat, sharegpt, pairs" in comments(folder)
    assert "files here: a.json, b.txt, c.csv" in comments(folder)


def test_nothing_is_overwritten_and_no_link_that_leads_nowhere_is_followed(tmp_path: Path) -> None:
    folder = write(tmp_path / "talks", {"a.jsonl": lines(*CHAT), "corpus.toml": b"mine"})
    with pytest.raises(UsageError, match="nothing is overwritten"):
        new_declaration(folder)
    assert (folder / "corpus.toml").read_bytes() == b"mine"
    (folder / "corpus.toml").unlink()
    (folder / "corpus.toml").symlink_to(tmp_path / "elsewhere.toml")
    with pytest.raises(UsageError, match="nothing is overwritten"):
        new_declaration(folder)
    assert not (tmp_path / "elsewhere.toml").exists()


def test_folders_that_can_be_none(tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    write(tmp_path, {"Not-An-Id/a.jsonl": lines(*CHAT)})
    for name, error, words in (
        ("nowhere", SourceError, "no such folder"),
        ("bare", SourceError, "the folder is empty"),
        ("Not-An-Id", UsageError, "can be none"),
        ("Not-An-Id/a.jsonl", UsageError, "this is a file"),
    ):
        with pytest.raises(error, match=words):
            new_declaration(tmp_path / name)
    assert not list(tmp_path.rglob("corpus.toml"))


def test_names_and_marks_can_write_nothing_else_into_the_declaration(tmp_path: Path) -> None:
    evil = 'x"\n[[files]]\npath = "/etc/passwd'
    records = [{"id": n, "messages": messages("Hi", "Ho"), evil: evil, "'] #": 1} for n in range(2)]
    document = declared(write(tmp_path / "talks", {'a "b" $(id).jsonl': lines(*records)}))
    assert splits(document) == {'a "b" $(id).jsonl': None}
    assert set(document) == {"title", "format", "files", "dialogue", "turn", "tasks"}


def test_what_looks_like_a_format_says_so(tmp_path: Path) -> None:
    folder = write(tmp_path / "talks", {"a.jsonl": lines(*CHAT), "b.json": b"[1, 2]"})
    assert looks_like([folder]) == "chat"
    assert looks_like([folder / "a.jsonl"]) == "chat"
    assert looks_like([folder / "b.json"]) is None


def test_archives_are_folders(tmp_path: Path) -> None:
    import zipfile

    folder = tmp_path / "talks"
    folder.mkdir()
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        archive.writestr("train/a.jsonl", lines(*CHAT))
        archive.writestr("test/a.jsonl.gz", gzip.compress(lines(*CHAT)))
    assert splits(declared(folder)) == {"all/train/a.jsonl": "train", "all/test/a.jsonl.gz": "test"}


def test_editors_are_led_to_the_schema_that_is_written_beside(tmp_path: Path) -> None:
    folder = write(tmp_path / "talks", {"a.jsonl": lines(*CHAT), ".corpus.schema.json": b"{}"})
    new_declaration(folder)
    assert (folder / ".corpus.schema.json").read_bytes() == b"{}"
    (folder / ".corpus.schema.json").unlink()
    (folder / "corpus.toml").unlink()
    assert not new_declaration(folder).left
    assert (folder / "corpus.toml").read_text(encoding="utf-8").startswith("#:schema ./.corpus.schema.json\n")
    assert (folder / ".corpus.schema.json").read_text(encoding="utf-8") == schema_text()


HOSTILE = {
    "a pickle": ("a.jsonl", b"cos\nsystem\n(S'touch pwned'\ntR."),
    "no UTF-8": ("a.csv", b"conv,text\n\xff\xfe,\x00\n"),
    "half of a pair": ("a.jsonl", b'{"messages": [{"role": "user", "content": "\\ud800"}]}\n'),
    "deep": ("a.json", b"[" * 100_000),
    "deep lines": ("a.jsonl", b'{"a":' * 100_000),
    "digits": ("a.json", b"[" + b"9" * 100_000 + b"]"),
    "cut off": ("a.jsonl.gz", gzip.compress(json.dumps(CHAT).encode() * 9)[:-20]),
    "not packed": ("a.json.gz", b"[]"),
    "no Parquet": ("a.parquet", b"PAR1PAR1PAR1"),
    "empty": ("a.csv", b""),
    "an open quote": ("a.tsv", b'a\tb\n1\t"2\n'),
    "other values": ("a.json", b'["x", 1, null, [], {}]'),
    "nothing": ("a.json", b""),
    "many columns": ("a.csv", b"a," * 20_000 + b"b\n"),
    "two of a name": ("a.csv", b"conv,text,text\n1,Row on now,x\n1,I do row,y\n"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_gives_a_skeleton_and_nothing_else(what: str, tmp_path: Path) -> None:
    path, content = HOSTILE[what]
    folder = write(tmp_path / "talks", {path: content})
    assert look(folder).guess is None
    assert declared(folder) == {"title": "Talks"}
    assert sorted(file.name for file in folder.iterdir()) == [".corpus.schema.json", path, "corpus.toml"]


def test_a_bad_line_hides_no_format(tmp_path: Path) -> None:
    folder = write(tmp_path / "talks", {"a.jsonl": lines(*CHAT) + b'{"messages": [{"role"\n' + lines(*CHAT)})
    seen = new_declaration(folder)
    assert declared_in(folder)["format"] == "chat"
    assert seen.problems["a.jsonl"].startswith("line 4 is no JSON")


def test_a_list_that_is_called_lines(tmp_path: Path) -> None:
    folder = write(tmp_path / "talks", {"a.json": lines(*CHAT), "b.jsonl": listed(*CHAT)})
    assert look(folder).problems["a.json"] == "a record a line: the file should be called .jsonl"


def test_times_speakers_and_scales_without_a_telling_name_are_found_by_their_values(tmp_path: Path) -> None:
    def chat(number: int) -> dict[str, Any]:
        turns = [
            {"from": role, "name": name, "at": f"2026-03-{number + 1:02}T0{place}:00:00Z", "text": f"Tea at {place}?"}
            for place, (role, name) in enumerate((("customer", f"ann {number}"), ("agent", "bo")))
        ]
        closed = "never" if number == 3 else f"2026-03-{number + 1:02}"
        return {"chat": f"c{number}", "begun": turns[0]["at"], "stars": number % 4 + 1, "closed": closed, "log": turns}

    chats = [chat(number) for number in range(20)]
    whole = [{name: value for name, value in record.items() if name != "closed"} for record in chats]
    folder = write(tmp_path / "tearoom", {"a.jsonl": lines(*whole)})
    document = declared(folder)
    assert (document["dialogue"]["started_at"], document["turn"]["said_at"]) == ("begun", "at")
    assert (document["turn"]["role"], document["turn"]["speaker"]) == ("from", "name")
    remarks = comments(folder)
    assert remarks.count("to decide: no name says so, but") == 1
    assert "to decide: who it is, beside the role from" in remarks
    assert 'labels = { 1 = "", 2 = "", 3 = "", 4 = "", 5 = "" }' in remarks
    # Of two fields with times, one of which has none here and there, neither is taken.
    other = write(tmp_path / "teashop", {"a.jsonl": lines(*chats)})
    assert "started_at" not in declared(other)["dialogue"]
    assert 'to decide: started_at = "closed"  # 19 of 20 are times' in comments(other)
