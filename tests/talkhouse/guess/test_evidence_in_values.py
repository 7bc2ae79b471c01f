"""What a few values prove, at the bounds where they cease to."""

from pathlib import Path
from typing import Any

import pytest

from talkhouse.guess.record_values import are_texts, fields_of
from tests.talkhouse.guess.folders import lines, write
from tests.talkhouse.guess.test_new_declaration import comments, declared


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["rain"] * 9 + [1], True),
        (["rain"] * 8 + [1, 2], False),
        (["rain"] * 8 + [None, 1], True),
        (["", "", "rain"], True),
        (["", None], False),
        ([None, None], False),
    ],
)
def test_a_field_is_of_texts_where_nine_of_ten_are(values: list[Any], expected: bool) -> None:
    assert are_texts(values) is expected


@pytest.mark.parametrize(("speakers", "is_speaker"), [("ABB ABB", True), ("AAAB AAAB", False), ("ABCA BCAB", True)])
def test_who_speaks_changes_at_half_of_the_turns(speakers: str, is_speaker: bool, tmp_path: Path) -> None:
    records = [
        {"talk": [{"user_handle": who, "text": f"It rains in {place} again"} for place, who in enumerate(dialogue)]}
        for dialogue in speakers.split()
    ]
    folder = write(tmp_path / "talks", {"a.jsonl": lines(*records)})
    assert ("speaker" in declared(folder)["turn"]) is is_speaker, comments(folder)


def test_members_are_shown_two_levels_deep() -> None:
    (field,) = fields_of([{"a": {"b": {"c": {"d": 1}}}}])
    (member,) = field.members
    (innermost,) = member.members
    assert (field.name, member.name, innermost.name, innermost.members) == ("a", "b", "c", [])
