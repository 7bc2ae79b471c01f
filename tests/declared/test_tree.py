"""Trees of replies: the order of their turns, what replies to what, and that they come back."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.model import Declaration, DialogueFields, TurnFields
from talkhouse.ingest.declared.documents.message_formats import TreeFormat
from talkhouse.ingest.decode import BadRecord
from tests.conftest import invented_examples
from tests.declared import talks
from tests.declared.json_texts import ANY, LETTERS, TEXTS, lists, objects, with_others

TREE = Declaration(
    "c",
    "",
    "c/corpus.toml",
    "C",
    "tree",
    (),
    dialogue=DialogueFields(turns=("prompt",)),
    turn=TurnFields(
        id=("message_id",),
        text=("text",),
        role=("role",),
        speaker=("user_id",),
        said_at=("created_date",),
        replies=("replies",),
    ),
    roles={"prompter": "user"},
)
FORMAT = TreeFormat(TREE)

_NODE = '{"message_id": "%s", "text": "%s", "role": "prompter", "replies": %s}'


def _node(name: str, *replies: str) -> str:
    return _NODE % (name, name.upper(), "[" + ", ".join(replies) + "]")


def _assert_comes_back(record: str) -> None:
    assert talks.same(talks.written(FORMAT, TREE, record), record)


def test_a_message_comes_before_its_replies_and_all_below_each_before_the_next() -> None:
    record = '{"prompt": ' + _node("a", _node("b", _node("c"), _node("d")), _node("e", _node("f"))) + "}"
    said = talks.read(FORMAT, record).turns
    assert [(turn.native_id, turn.role, turn.reply_to) for turn in said] == [
        ("a", "user", None),
        ("b", "user", 0),
        ("c", "user", 1),
        ("d", "user", 1),
        ("e", "user", 0),
        ("f", "user", 4),
    ]
    assert said[5].pointer == "/prompt/replies/1/replies/0"
    _assert_comes_back(record)


@pytest.mark.parametrize(
    "root",
    [
        '{"role": "prompter", "text": "Alone.", "message_id": "a"}',
        '{"role": "prompter", "replies": null, "text": "Alone.", "message_id": "a", "parent_id": null}',
        '{"message_id": "a", "text": "x", "role": "prompter", "replies": [{"message_id": 7, "parent_id": "a",'
        ' "text": "y", "role": "assistant", "user_id": null, "replies": [{"message_id": "c", "parent_id": 7,'
        ' "text": "z", "role": "b", "rank": 1.50}]}]}',
        '{"message_id": "a", "text": "x", "role": "p", "replies": [{"parent_id": "b", "text": "y", "role": "p"}]}',
        '{"message_id": "a", "text": "x", "role": "p", "created_date": "2023-02-05T14:23:50.983374+00:00"}',
        '{"message_id": "a", "text": "x", "role": "p", "created_date": "yesterday", "user_id": "p1"}',
        "[" + _node("a", _node("b")) + ", " + _node("c") + "]",
        "[]",
    ],
)
def test_a_tree_comes_back(root: str) -> None:
    _assert_comes_back(f'{{"tree_state": "growing", "prompt": {root}, "n": 1.0}}')


def test_a_tree_as_deep_as_a_record_may_be_comes_back() -> None:
    tree = _node("z")
    for depth in range(48):
        tree = _node(f"m{depth}", tree)
    _assert_comes_back(f'{{"prompt": {tree}}}')


@pytest.mark.parametrize(
    ("record", "pointer"),
    [
        ("{}", ""),
        ('{"prompt": null}', "/prompt"),
        ('{"prompt": {"role": "p", "text": "x", "replies": "none"}}', "/prompt/replies"),
        ('{"prompt": {"role": "p", "text": "x", "replies": [{"text": "y"}]}}', "/prompt/replies/0"),
        ('{"prompt": {"role": "p", "text": "x", "replies": [1]}}', "/prompt/replies/0"),
    ],
)
def test_what_is_missing_or_of_another_type_is_named(record: str, pointer: str) -> None:
    with pytest.raises(BadRecord) as raised:
        talks.read(FORMAT, record)
    assert (raised.value.rule, raised.value.pointer) == ("GF-01", pointer)


def test_one_id_twice_is_named() -> None:
    findings = talks.read(FORMAT, '{"prompt": ' + _node("a", _node("b"), _node("b")) + "}").findings
    assert [(finding.rule, finding.pointer) for finding in findings] == [("GF-06", "/prompt/replies/1/message_id")]


_IDS = st.sampled_from(['"a"', '"b"', '"\\u0061"', "1", "null"])
_NODES = st.recursive(
    st.just("[]") | st.just("null"),
    lambda below: lists(
        with_others(
            {"text": TEXTS | st.just("null"), "role": LETTERS.map(lambda _: '"prompter"') | TEXTS},
            {"message_id": _IDS, "parent_id": _IDS | ANY, "replies": below, "user_id": _IDS, "rank": ANY},
        ),
        most=2,
    ),
    max_leaves=4,
)
_RECORDS = objects(st.fixed_dictionaries({"prompt": _NODES}, optional={"a": ANY}))


@invented_examples(300)
@given(_RECORDS)
def test_any_tree_comes_back_or_is_named(record: str) -> None:
    with suppress(BadRecord):
        _assert_comes_back(record)
