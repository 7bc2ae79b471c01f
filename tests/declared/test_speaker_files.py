"""Names of speakers in a file of their own: ``[speakers]``."""

import pytest

from tests.declared.test_declaration import mistake

TURNS = 'title = "Team"\nformat = "turns"\n[turn]\ntext = "text"\nspeaker = "user"\n'
SPEAKERS = """
[speakers]
path = "users.json"
id = "id"
name = ["profile.display_name", "real_name"]
is_bot = "is_bot"
"""


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
