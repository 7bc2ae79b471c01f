"""Names of speakers in a file of their own: ``[speakers]``."""

import pytest

from talkhouse.ingest.rows import Participant, Record, Speaker
from tests.declared.rows_loaded import Read, json_text, read_back
from tests.declared.test_declaration import mistake

TURNS = 'title = "Team"\nformat = "turns"\n[turn]\ntext = "text"\nspeaker = "user"\n'
DIALOGUES = 'title = "Team"\nformat = "dialogue"\n[dialogue]\nturns = "said"\n[turn]\ntext = "text"\nspeaker = "user"\n'
SPEAKERS = """
[speakers]
path = "users.json"
id = "id"
name = ["profile.display_name", "real_name"]
is_bot = "is_bot"
"""
DAY = [{"user": "U1", "text": "Tea?"}, {"user": "U2", "text": "Brewing."}, {"user": "U9", "text": "Yes."}]
USERS = [
    {"id": "U1", "profile": {"display_name": ""}, "real_name": "Ida"},
    {"id": "U2", "is_bot": True, "profile": {"display_name": "kettle"}, "real_name": "Kettle"},
    {"id": "U3", "real_name": "Ole", "__proto__": {"": [1.50]}, "shape": None},
]


def loaded(toml: str, **files: object) -> Read:
    """Read JSON files of these names by a declaration; all of them have to come back."""
    return read_back(toml, {f"{name}.json": json_text(content) for name, content in files.items()})


def people(result: Read) -> list[tuple[str | None, str | None, str]]:
    return [(row.native_id, row.name, row.kind) for row in result.of(Speaker)]


@pytest.mark.parametrize(("toml", "talk"), [(TURNS, DAY), (DIALOGUES, [{"said": DAY}])])
def test_speakers_have_the_names_of_their_file(toml: str, talk: object) -> None:
    result = loaded(toml + SPEAKERS, day=talk, users=USERS)
    assert people(result) == [
        ("U1", "Ida", "human"),
        ("U2", "kettle", "bot"),
        ("U9", None, "human"),
        ("U3", "Ole", "human"),
    ]
    assert [row.speaker_id for row in result.of(Participant)] == ["quay:U1", "quay:U2", "quay:U9"]
    records = [(row.native_id, row.main_speaker_id) for row in result.of(Record) if "users" in row.record_id]
    assert records == [("U1", "quay:U1"), ("U2", "quay:U2"), ("U3", "quay:U3")]
    assert result.places == []


@pytest.mark.slow
@pytest.mark.parametrize(("toml", "talk"), [(TURNS, DAY), (DIALOGUES, [{"said": DAY}])])
def test_within_a_dialogue_names_count_too(toml: str, talk: object) -> None:
    result = loaded(toml + SPEAKERS + '[speaker]\nscope = "dialogue"\n', day=talk, users=USERS)
    assert people(result) == [("U1", "Ida", "human"), ("U2", "kettle", "bot"), (None, "U9", "human")]
    assert [row.main_speaker_id for row in result.of(Record)] == [None] * 4


@pytest.mark.slow
def test_a_turn_says_the_name_of_whom_the_file_does_not_name() -> None:
    named = [{**turn, "name": f"by {turn['user']}"} for turn in DAY]
    for toml, talk in ((TURNS, named), (DIALOGUES, [{"said": named}])):
        result = loaded(toml + '[speaker]\nname = "name"\n' + SPEAKERS, day=talk, users=USERS)
        assert people(result)[:3] == [("U1", "Ida", "human"), ("U2", "kettle", "bot"), ("U9", "by U9", "human")]


@pytest.mark.slow
def test_only_the_record_that_is_wrong_is_set_aside_and_of_one_id_the_first_counts() -> None:
    wrong = [
        {"id": "U1", "real_name": "Other"},
        {"real_name": "Nobody"},
        7,
        {"id": None},
        {"id": "U1", "real_name": [1]},
    ]
    result = loaded(TURNS + SPEAKERS, day=DAY, users=[*USERS, *wrong])
    assert people(result)[0] == ("U1", "Ida", "human")
    assert result.places == [
        ("GF-01", "users.json#/7/real_name"),
        ("GF-23", "users.json#/3"),
        ("GF-01", "users.json#/4"),
        ("GF-01", "users.json#/5"),
        ("GF-01", "users.json#/6/id"),
    ]
    assert [finding.detail for finding in result.findings if finding.rule == "GF-23"] == [
        "'U1' is named again; in all 2 times"
    ]


@pytest.mark.slow
def test_members_of_an_object_may_be_the_speakers() -> None:
    toml = DIALOGUES + '[speakers]\npath = "users.json"\nrecord = "*"\nname = "name"\n'
    result = loaded(toml, day=[{"said": DAY}], users={"U1": {"name": "Ida"}, "U4": {"name": None}})
    names = {"U1": "Ida", "U2": None, "U9": None, "U4": None}
    assert people(result) == [(native_id, name, "human") for native_id, name in names.items()]
    inside = toml.replace('"*"', '"team.people.*"')
    assert people(loaded(inside, day=[], users={"team": {"people": {"U1": {"name": "Ida"}}, "n": 1}})) == [
        ("U1", "Ida", "human")
    ]


@pytest.mark.slow
def test_a_table_of_speakers_has_a_header_of_its_own_and_comes_back_to_the_byte() -> None:
    speakers = '[speakers]\npath = "people.csv"\nid = "id"\nname = "name"\nis_bot = "bot"\n'
    names = '[dialect]\nheader = false\nnames = ["user", "text"]\n'
    files = {"day.csv": b'U1,"Tea?"\nU2,Brewing.\n', "people.csv": b'id,"name",bot\nU1,"Ida",\n"U2",kettle,TRUE\n'}
    assert people(read_back(TURNS + names + speakers, files)) == [("U1", "Ida", "human"), ("U2", "kettle", "bot")]


@pytest.mark.slow
@pytest.mark.parametrize("raw", [b"", b"{", b'{"U1": {}}', b"[1"])
def test_a_file_of_speakers_that_can_not_be_read_is_refused_and_the_dialogues_are_not(raw: bytes) -> None:
    result = read_back(TURNS + SPEAKERS, {"day.json": json_text(DAY), "users.json": raw})
    assert people(result) == [("U1", None, "human"), ("U2", None, "human"), ("U9", None, "human")]
    assert [item.location.file.name for item in result.rejected] == ["users.json"]


@pytest.mark.parametrize(
    ("toml", "line", "message"),
    [
        (TURNS + SPEAKERS.replace("path", "#"), 7, "[speakers] without a path"),
        (TURNS + SPEAKERS.replace('id = "id"', ""), 8, "nothing says whom a record is about"),
        (TURNS + SPEAKERS.replace('"id"', '["a", "b"]'), 9, "a text, in quotes"),
        (TURNS + SPEAKERS.replace("real_name", "names[*]"), 10, "a path to one place"),
        (TURNS + SPEAKERS + 'scope = "corpus"\n', 12, "write it below [speaker]"),
        (TURNS + SPEAKERS + '[[files]]\npath = "users.json"\n', 13, "is that of [speakers]"),
        (TURNS.replace('"turns"', '"pairs"').split("[turn]")[0] + SPEAKERS, 4, "means nothing in format = 'pairs'"),
    ],
)
def test_what_names_no_speakers_is_refused_at_its_line(toml: str, line: int, message: str) -> None:
    error = mistake(toml)
    assert str(error).startswith(f"ferry_talk/corpus.toml:{line}: ")
    assert message in str(error)
