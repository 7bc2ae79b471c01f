"""Options of ``talkhouse ingest`` become a declaration as a file's would be; a mistake names its option."""

import re
from dataclasses import replace

import pytest

from talkhouse.ingest.declared.declaration import from_options, read_declaration
from talkhouse.schema.errors import UsageError


def test_options_are_kept_as_toml_that_reads_as_the_same() -> None:
    declared = from_options("ferry_talk", "chat", ["id=chat id", "turns=log", "turn.id=no", "name=who"], "train")
    assert declared.text == (
        'title = "Ferry talk"\nformat = "chat"\n\n[[files]]\npath = "**"\nsplit = "train"\n\n'
        '[dialogue]\nid = "chat id"\nturns = "log"\n\n[turn]\nid = "no"\n\n[speaker]\nname = "who"\n'
    )
    again = read_declaration("ferry_talk", declared.text, declared.place)
    assert replace(again, files=()) == replace(declared, files=())
    assert again.files == (replace(declared.files[0], line=5),)


def test_a_name_means_the_first_table_that_has_it_in_this_format() -> None:
    assert from_options("x", "turns", ["text=words", "id=conv"]).turn.text == ("words",)
    assert from_options("x", "transcript", ["text=words", "markers.A: =user"]).dialogue.text == ("words",)
    assert from_options("x", "pairs", ["prompt=q", "response=a=b"]).pair.response == ("a=b",)
    assert from_options("x", "preference", ["prompt=q"]).preference.prompt == ("q",)
    assert from_options("x", "chat", ["roles.human=user"], title='"; drop table').roles == {"human": "user"}


@pytest.mark.parametrize(
    ("format_", "options", "message"),
    [
        ("chats", [], r"--format: no format 'chats'\n  expected: one of: chat, .*turns"),
        (
            "chat",
            ["turn.txt=body"],
            r"--map turn\.txt=body: there is no 'txt' in \[turn\].*\n  expected: one of: text, ",
        ),
        ("chat", ["txt=body"], r"--map txt=body: there is no 'txt' where format = 'chat'\n  expected: text;"),
        ("chat", ["id"], r"--map id: --map is ours=theirs"),
        ("chat", ["id=a", "dialogue.id=b"], r"--map dialogue\.id=b: \[dialogue\] id is mapped twice"),
        ("chat", ["turns=a[0]"], r"--map turns=a\[0\]: .* asks for one item of a list"),
        ("chat", ["scope=dialog"], r"--map scope=dialog: .*\n  expected: one of: dialogue, corpus"),
        ("dialogue", ["turns=a"], r"--format dialogue: format = 'dialogue' needs 'text' in \[turn\]"),
    ],
)
def test_a_mistake_names_its_option(format_: str, options: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        from_options("ferry_talk", format_, options)
    assert caught.value.exit_code == 2
    assert re.search(message, str(caught.value))
