"""Who speaks where it stands beside the texts or before them, and what is said of turns that say more than is taken."""

from typing import Any

import pytest

from talkhouse.ingest.declared.declaration import read_declaration
from talkhouse.schema.errors import RegistryError
from tests.declared.rows_loaded import Read, json_lines, read_back

HEAD = 'title = "Pier"\n'
LINES = """format = "transcript"
[dialogue]
text = "log%s"
%s[lines]
pattern = '(?:.*<log> )?(?<who>[^:]+): (?<said>.*?)(?: </log>)?'
skip = '--- '
[turn]
text = "said"
speaker = "who"
[speaker]
scope = "dialogue"
"""
EVENTS = 'format = "dialogue"\n[dialogue]\nturns = "events"\n[turn]\ntext = "data"\nrole = "who"\n'
PAIRS = 'format = "pairs"\n[pair]\neach = "log[*]"\nprompt = "a"\nresponse = "b"\n'
PAIRS += '[roles]\nprompt = "assistant"\nresponse = "user"\n'


def loaded(page: str, *records: Any) -> Read:
    return read_back(read_declaration("quay", HEAD + page, "quay/corpus.toml"), {"a.jsonl": json_lines(*records)})


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        (LINES % ("", "") + '[markers]\n"A: " = "a"\n', "told apart twice"),
        ('format = "transcript"\n[markers]\n"A: " = "a"\n[turn]\ntext = "said"\n', "without"),
        (EVENTS.replace('"who"', '"$.who"'), "a list next to the turns"),
        (PAIRS.replace('"user"', '"assistant"'), "the same role"),
        (EVENTS + '[times]\nam = "오전"\n', "no form has %p"),
        ('format = "turns"\n[dialogue]\nid = "d"\nfolder = true\n[turn]\ntext = "t"\n', "told apart twice"),
    ],
)
def test_what_can_not_be_meant_is_refused(page: str, problem: str) -> None:
    with pytest.raises(RegistryError, match=problem):
        loaded(page, {})
