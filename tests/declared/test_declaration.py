"""``corpus.toml`` is read strictly: what it may say, its defaults, and the line and words of each mistake."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration import LARGEST, from_options, of_folder, read_declaration
from talkhouse.ingest.declared.declaration.forms import FORMS
from talkhouse.ingest.declared.declaration.model import Declaration, Files
from talkhouse.ingest.declared.declaration.toml_text import toml_text
from talkhouse.schema.errors import RegistryError, UsageError

HEAD = 'title = "Ferry talk"\n'
CHAT = HEAD + 'format = "chat"\n'
TURNS = HEAD + 'format = "turns"\n[turn]\ntext = "words"\n'
PAIRS = HEAD + 'format = "pairs"\n'
LABELS = '[[annotations]]\nscheme = "mood"\n'
TASK, TRANSCRIPT = CHAT + '[[tasks]]\nname = "a"\nkind = "%s"\n', HEAD + 'format = "transcript"\n'
SPAN = LABELS + 'label = "a"\nstart = "b"\nend = "c"'
LABEL_FILE = '[[files]]\npath = "t.csv"\n[[files]]\npath = "l.csv"\nholds = "annotations"\n'


def read(text: str) -> Declaration:
    return read_declaration("ferry_talk", text, "ferry_talk/corpus.toml")


def mistake(text: str) -> RegistryError:
    with pytest.raises(RegistryError) as caught:
        read(text)
    assert caught.value.exit_code == 1
    return caught.value


MISTAKES: list[tuple[str, int, str]] = [
    # The text itself.
    (CHAT + "licence = MIT", 3, r"not valid TOML\n  found:    an invalid value, in column 11"),
    (CHAT + "\nso many words that a key of theirs would have too many parts", 4, "not valid TOML"),
    (CHAT + "[" + "and a table with a name of more words than any " * 3 + "]", 3, "not valid TOML"),
    (CHAT + "[" + "a." * 8 + "b]", 3, "too many levels"),
    (CHAT + 'licence = "MIT', 3, "a text|at the end|Unterminated"),
    (CHAT + '[[files]]\npath = "a"\n[files]\n', 5, "not valid TOML"),
    (CHAT + "a." * 8 + "b = 1", 3, "too many levels"),
    (CHAT + "x = " + "[" * 20 + "]" * 20, 3, "too many levels"),
    # The head.
    ('format = "chat"\n[dialogue]\n', 1, "has no title"),
    (HEAD + "[dialogue]\n", 1, r"has no format\n  expected: one of: chat, sharegpt"),
    (HEAD + '[dialogue]\nformat = "chat"', 1, r"has no format.*\n.*\n  next: .* stands in \[dialogue\]: move it above"),
    (HEAD + 'format = "chats"', 2, r"'format' can't be 'chats'\n  expected: one of: chat, .*sharegpt"),
    (CHAT + 'licens = "MIT"', 3, r"no 'licens' in a declaration\n  expected: licence$"),
    (CHAT + "version = 2026-01-02", 3, r"can't be 2026-01-02 \(a date or time\)\n  expected: a text, in quotes"),
    (CHAT + 'languages = "en"', 3, "a list of texts"),
    (CHAT + 'languages = ["en", "English"]', 3, "ISO 639, such as 'en'; 'English'"),
    (CHAT + 'homepage = "example.org"', 3, "begins with https"),
    (CHAT + 'licence_url = "javascript:x"', 3, "begins with https"),
    ('title = ""\nformat = "chat"', 1, "not empty"),
    ('title = "a\\nb"\nformat = "chat"', 1, "one line"),
    # [[files]].
    (CHAT + '[[files]]\nsplit = "train"', 3, "without a path"),
    (CHAT + '[files]\npath = "a"', 3, r"\[\[files\]\] on a line of its own"),
    (CHAT + '[[files]]\npaths = "a"', 4, "expected: one of: path, "),
    (CHAT + '[[files]]\npath = "../a.jsonl"', 4, "leads out"),
    (CHAT + '[[files]]\npath = "a/../../b"', 4, "leads out"),
    (CHAT + '[[files]]\npath = "/etc/passwd"', 4, "leads out"),
    (CHAT + "[[files]]\npath = 'C:/a'", 4, "leads out"),
    (CHAT + "[[files]]\npath = 'a\\b.csv'", 4, "backslash"),
    (CHAT + '[[files]]\npath = "a/"', 4, r"names a folder; all that is in it is 'a/\*\*'"),
    (CHAT + '[[files]]\npath = "./a"', 4, "without a name"),
    (CHAT + '[[files]]\npath = "a**.csv"', 4, "stands alone"),
    (CHAT + '[[files]]\npath = ""', 4, "1 to 1,000 letters"),
    (CHAT + '[[files]]\npath = "a"\n[[files]]\npath = "a"', 6, "is already in line 4"),
    (CHAT + '[[files]]\npath = "a"\nholds = "annotations"\nskip = "x"', 6, "hold nothing"),
    (CHAT + '[[files]]\npath = "a"\nholds = "labels"', 5, "one of: annotations, dialogues"),
    (CHAT + '[[files]]\npath = "a"\nskip = "x"\nsplit = "train"', 6, "only files of dialogues have a split"),
    (CHAT + '[[files]]\npath = "a"\nskip = "x"', 3, "has dialogues"),
    (CHAT + '[[files]]\npath = "a"\nsplit = "train"\n[dialogue]\nsplit = "part"', 7, "twice: by file and by record"),
    # Tables of fields.
    (CHAT + '[turn]\nrole = "a"\nreplies = "b"', 5, r"no 'replies' in \[turn\] where format = 'chat'"),
    (CHAT + '[dialogue]\nrole = "a"', 4, r"next:     write it below \[turn\]"),
    (CHAT + '[turn]\nlicence = "a"', 4, r"next:     write it above the first \[table\]"),
    (CHAT + '[pair]\nprompt = "a"', 3, r"\[pair\] means nothing in format = 'chat'\n  expected: it is for pairs"),
    (CHAT + '[markers]\n"a" = "user"', 3, "it is for preference, transcript"),
    (CHAT + "[turn]\ntext = 3", 4, r"'text' in \[turn\] can't be 3 \(a number\)"),
    (CHAT + '[turn]\ntext = ""', 4, "empty path"),
    (CHAT + '[turn]\ntext = "a..b"', 4, "no name behind"),
    (CHAT + '[turn]\ntext = "a[-1]"', 4, "counted from the front"),
    (CHAT + "[turn]\ntext = []", 4, r"a path, or a list of paths such as"),
    (CHAT + '[turn]\ntext = ["a", 1]', 4, r"can't be a list of 2\n  expected: a path, or a list"),
    (CHAT + '[turn]\ntext = ["a", "a..b"]', 4, r"'text' in \[turn\]: 'a..b': no name behind"),
    ('title = "x"\nformat = "tree"\n[turn]\ntext = "[0]"', 4, "a path that begins with a name"),
    ('title = "x"\nformat = "pairs"\n[pair]\neach = "a"\nprompt = "[0]"\nresponse = "r"', 5, "begins with a name"),
    ('title = "x"\nformat = "turns"\n[turn]\ntext = ["a", ""]', 4, "the name of a column, or a list of names"),
    (CHAT + '[turn]\ntext = "a[*"', 4, "without its ']'"),
    (CHAT + '[turn]\ntext = "a[*].b"', 4, r"one place, without \[\*\]"),
    (CHAT + '[dialogue]\ntitle = "$"', 4, r"'title' in \[dialogue\] can't be '\$'\n  expected: the path of a member"),
    (CHAT + '[dialogue]\ntitle = "[*]"', 4, r"without \[\*\]"),
    (CHAT + '[dialogue]\ntitle = "a.*"', 4, r"without \[\*\]"),
    (PAIRS + '[pair]\nprompt = "q"\nresponse = "a"\neach = "data[*].qas[*]"', 6, r"with \[\*\] at its end alone"),
    (HEAD + 'format = "tree"\n[turn]\nreplies = "a[*].b[*]"', 4, r"one list, with \[\*\] at its end alone"),
    (HEAD + 'format = "tree"\n[dialogue]\nturns = "a[*].b"', 4, r"one list, with \[\*\] at its end alone"),
    (CHAT + '[dialogue]\nrecord = "**"', 4, "can't be read from"),
    (CHAT + '[dialogue]\nrecord = ["a"]', 4, "a text, in quotes"),
    (CHAT + '[speaker]\nscope = "dialog"', 4, "expected: one of: dialogue, corpus$"),
    (CHAT + 'roles = "user"', 3, r"\[roles\] on a line of its own"),
    (CHAT + '[roles]\nhuman = ""', 4, "not empty"),
    (CHAT + '[splits]\nfold1 = "training"', 4, 'expected: one of: train, test, validation; or "" for none'),
    (CHAT + '[times]\nsaid_at = "unix"', 4, r"no 'said_at' in \[turn\]"),
    (CHAT + '[turn]\nsaid_at = "t"\n[times]\nsaid_at = "dd.mm.yyyy"', 6, "a pattern of strftime"),
    (CHAT + '[turn]\nsaid_at = "t"\n[times]\nsaid_at = "%Q"', 6, "a pattern of strftime"),
    (CHAT + '[dialect]\ndelimiter = ";;"', 4, "one sign of ASCII"),
    (CHAT + "[dialect]\nquoteChar = \"''\"", 4, "one sign of ASCII"),
    (CHAT + "[dialect]\nquoteChar = ''\nescapeChar = '\\\\'", 5, "a quoteChar that is not"),
    (CHAT + "[dialect]\ndelimiter = '\"'", 4, "another sign than quoteChar"),
    (TURNS + '[dialogue]\nturns = "a"', 6, "no 'turns'"),
    (TURNS.replace("text", "role"), 3, r"needs 'text' in \[turn\]"),
    (HEAD + 'format = "turns"', 2, r"needs 'text' in \[turn\]"),
    (HEAD + 'format = "dialogue"\n[turn]\ntext = "a"', 2, r"needs 'turns' in \[dialogue\]"),
    (HEAD + 'format = "transcript"', 2, r"needs \[markers\] or \[dialogue\] separator"),
    (HEAD + 'format = "transcript"\n[dialogue]\nseparator = "|"\n[markers]\na = "b"', 4, "told apart twice"),
    (HEAD + 'format = "transcript"\n[dialogue]\nseparator = ""', 4, "a text that is not empty, or a list of such"),
    (HEAD + 'format = "transcript"\n[dialogue]\nseparator = ["a", ""]', 4, "a text that is not empty"),
    (HEAD + 'format = "transcript"\n[dialogue]\nseparator = []', 4, "a text that is not empty"),
    (CHAT + '[dialogue]\nseparator = "|"', 4, r"no 'separator' in \[dialogue\] where format = 'chat'"),
    (CHAT + "[lines]\npattern = '(?<a>x)'", 3, "it is for turns"),
    (TURNS + "[lines]\nbegins = '1'", 5, "without a pattern"),
    (TURNS + "[lines]\npattern = '(?<words>.*'", 6, "is no pattern: unclosed group\n  found:    "),
    (TURNS + "[lines]\npattern = '(words)'", 6, "one with named groups"),
    (TURNS + "[lines]\npattern = '(?<word>.*)'", 4, "no group 'words'\n  expected: word$"),
    (TURNS + "[lines]\npattern = '(?<words>.*)'\nbegins = '('", 7, "'begins' in .* is no pattern: unclosed group"),
    (TURNS + "[lines]\npattern = '(?<words>.*)'\n[dialogue]\nid = 'room'", 8, "no group 'room'"),
    (TURNS + "[lines]\npattern = '(?<words>.*)(?<d>x)'\nbegins = '1'\n[dialogue]\nid = 'd'", 7, "told apart twice"),
    (TURNS + "[lines]\npattern = '(?<words>.*)'\n" + LABELS + 'columns = ["words", "mood"]', 9, "no group 'mood'"),
    (CHAT + '[turn]\nsaid_at = "t"\n[times]\nsaid_at = "%H:%M"', 6, "has no year, so that nobody knows the day"),
    (HEAD + 'format = "transcript"\n[markers]\n"A: " = "user"\n"" = "user"', 5, "an empty marker"),
    (HEAD + 'format = "transcript"\n[markers]\n"A: " = 1', 4, "a text, in quotes"),
    (PAIRS + '[pair]\nprompt = "q"', 3, r"needs 'response' in \[pair\]"),
    # [[annotations]].
    (CHAT + '[[annotations]]\nlabel = "a"', 3, "without 'scheme'"),
    (CHAT + LABELS + "each = 'a[*]'", 5, "nothing says where the labels are"),
    (CHAT + LABELS, 4, "nothing says where the labels are"),
    (CHAT + LABELS + 'label = "a"\n' + LABELS, 7, "is already in line 4"),
    (CHAT + '[[annotations]]\nscheme = "x; drop table turns"', 4, "lower case letters"),
    (CHAT + f'[[annotations]]\nscheme = "{"a" * 41}"', 4, "at most 40"),
    (CHAT + LABELS + 'label = "a"\non = "message"', 6, "one of: dialogue, record, response, turn"),
    (CHAT + LABELS + 'label = "a"\nlabels = ["x"]', 6, r"labels = \{ calm"),
    (CHAT + LABELS + 'label = "a"\nlabels = { x = 1 }', 6, "meanings are texts"),
    (CHAT + LABELS + 'label = "a"\ncolumns = ["b"]', 6, "no 'columns'.*\n.*\n  next:     it is for format = 'turns'"),
    (CHAT + LABELS + 'label = "a"\nfrom = "l.csv"', 6, "no 'from'"),
    (CHAT + LABELS + 'label = "a"\nstart = "b"', 6, "'start' without 'end'"),
    (CHAT + LABELS + 'label = "a"\noffsets = "utf-16"', 6, "'offsets' without 'start'"),
    (TRANSCRIPT + '[markers]\na = "user"\n' + SPAN, 8, "only labels on a turn"),
    (CHAT + LABELS + 'on = "dialogue"\nlabel = "a"\nstart = "b"\nend = "c"', 7, "only labels on a turn"),
    (CHAT + SPAN + '\noffsets = "utf16"', 8, "expected: one of: utf-16, code points$"),
    (CHAT + LABELS + 'label = "a"\neach = "$"', 6, "the path of a list"),
    (CHAT + LABELS + 'label = "a"\nby = "[*]"', 6, "the path of a list"),
    (CHAT + LABELS + 'label = "a"\nskip = "b"', 6, "'skip' without 'by'"),
    (CHAT + LABELS + 'label = "a"\nonly = { b = "c" }', 6, "'only' without 'each'"),
    (CHAT + LABELS + 'label = "a"\nby = "$.b[*]"', 6, "nothing says of which turn"),
    (CHAT + LABELS + 'label = "a"\nturn = "b"', 6, "can't say another"),
    (CHAT + LABELS + 'label = "a"\non = "record"\nturn = "b"', 7, "of no turn"),
    (CHAT + LABELS + 'label = "$.a"', 5, "only 'by' and 'each' may begin at the record"),
    (CHAT + LABELS + 'label = "a"\nannotator = "b[*]"', 6, r"without \[\*\]"),
    (PAIRS + LABELS + 'on = "turn"\nlabel = "a"', 4, "no turn is an object"),
    (TURNS + LABELS + 'label = "a"\ncolumns = ["b"]', 7, "can't both be declared"),
    (TURNS + LABELS + 'columns = ["b", "b"]', 7, "each once"),
    (TURNS + LABELS + 'each = "b[*]"', 7, "no 'each'.*\n.*\n  next:     it is for labels inside JSON"),
    (TURNS + LABELS + 'label = "a"\nturn = "b"', 8, "without 'from'"),
    (TURNS + LABELS + 'label = "a"\nfrom = "l.csv"', 8, "no .*holds = 'annotations' has 'l.csv'"),
    (TURNS + LABEL_FILE, 8, "takes labels from 'l.csv'"),
    (TURNS + LABEL_FILE + LABELS + 'label = "a"\nfrom = "l.csv"', 13, "of which dialogue"),
    # [[tasks]].
    (
        TASK % "next_turn" + '[[tasks]]\nname = "a_b"\nkind = "next_turn"\n[splits]\nb_test = "test"',
        7,
        "a view 'a_b_test'",
    ),
    (CHAT + '[[tasks]]\nkind = "next_turn"', 3, "without 'name'"),
    (CHAT + '[[tasks]]\nname = "Reply"\nkind = "next_turn"', 4, "lower case letters"),
    (CHAT + '[[tasks]]\nname = "reply"', 4, "has no kind"),
    (CHAT + '[[tasks]]\nname = "reply"\nkind = "next"', 5, "expected: one of: next_turn, "),
    (TASK % "preference", 5, "answers to compare"),
    (TASK % "turn_label", 5, "needs a scheme"),
    (TASK % "turn_label" + 'scheme = "mod"\n' + LABELS + 'label = "a"', 6, "expected: mood$"),
    (TASK % "spans" + 'scheme = "mood"\n' + LABELS + 'label = "a"', 5, "no start and end"),
    (TASK % "dialogue_label" + 'scheme = "mood"\n' + LABELS + 'label = "a"', 5, "on = 'turn'"),
    (TASK % "turn_label" + 'scheme = "mood"\n' + LABELS + 'value = "a"', 6, "no labels"),
    (TASK % "next_turn" + 'scheme = "mood"', 6, "takes no 'scheme'"),
    (TASK % "next_turn" + '[[tasks]]\nname = "a"\nkind = "next_turn"\n', 7, "is already in line 4"),
    (TASK % "next_turn" + '[[tasks]]\nname = "a_test"\nkind = "next_turn"', 7, "a view 'a_test'"),
]


@pytest.mark.parametrize(("text", "line", "says"), MISTAKES)
def test_a_mistake_is_named_with_its_line(text: str, line: int, says: str) -> None:
    message = str(mistake(text))
    assert message.startswith(f"ferry_talk/corpus.toml:{line}: ")
    assert re.search(says, message)


@pytest.mark.parametrize(
    ("text", "most"),
    [
        pytest.param(
            CHAT + "[splits]\n" + "".join(map("f{} = ''\n".format, range(10_001))), "10,000", marks=pytest.mark.slow
        ),
        (CHAT + "[[tasks]]\n" * 101, "100"),
        (TRANSCRIPT + "[markers]\n" + "".join(map("{} = ''\n".format, range(1_001))), "1,000"),
    ],
    ids=["splits", "tasks", "markers"],
)
def test_too_many_entries_are_refused(text: str, most: str) -> None:
    message = str(mistake(text))
    assert "too many entries" in message
    assert f"at most {most}" in message


def test_a_message_is_short_whatever_the_declaration_says() -> None:
    long = "x" * 100_000
    for text in (
        HEAD + f'format = "{long}"',
        CHAT + f"{long} = 1",
        CHAT + f'[turn]\ntext = "{long}["',
        CHAT + f'[[files]]\npath = "{long}"',
        CHAT + f'[[tasks]]\nname = "a"\nkind = "turn_label"\nscheme = "{long}"',
        CHAT + f'[[annotations]]\nscheme = "{long}"',
    ):
        assert len(str(mistake(text))) < 1_000


def test_the_shortest_declaration_has_the_defaults_of_its_format() -> None:
    chat = read(CHAT)
    assert (chat.licence, chat.citation, chat.languages, chat.licence_url) == ("not stated", "not stated", (), None)
    assert chat.files == (Files("**", 2),)
    assert (chat.dialogue.turns, chat.turn.role, chat.turn.text, chat.turn.speaker) == (
        *(("messages",), ("role",), ("content",), ("name",)),
    )
    assert (chat.dialogue.id, chat.dialogue.record, chat.speaker.scope) == (None, "item", "dialogue")
    sharegpt = read(HEAD + 'format = "sharegpt"\n[roles]\nbot = "assistant"\nhuman = "visitor"')
    assert (sharegpt.dialogue.turns, sharegpt.turn.role) == (("conversations",), ("from",))
    assert list(sharegpt.roles.items())[:3] == [("bot", "assistant"), ("human", "visitor"), ("gpt", "assistant")]
    assert sharegpt.roles["observation"] == "tool"
    bare = read(HEAD + 'format = "sharegpt"\n[dialogue]\nid = ""\nsystem = ""\n[splits]\nfeedback = ""\n')
    assert (bare.dialogue.id, bare.dialogue.system, bare.splits) == (None, None, {"feedback": None})
    tree = read(HEAD + 'format = "tree"')
    assert (tree.dialogue.turns, tree.turn.id, tree.turn.replies) == (("prompt",), ("message_id",), ("replies",))
    assert tree.speaker.scope == "corpus"
    assert read(HEAD + 'format = "convokit"').times == {"said_at": "unix"}
    transcript = read(HEAD + 'format = "transcript"\n[markers]\n"\\n\\nGuest: " = "user"')
    assert (transcript.dialogue.text, transcript.markers) == (("text",), {"\n\nGuest: ": "user"})


def test_pairs_have_the_names_of_alpaca_unless_others_are_declared() -> None:
    assert read(PAIRS).pair.prompt == ("instruction",)
    assert read(PAIRS + '[pair]\nsystem = "s"').pair.query == ("input",)
    thumbs = read(PAIRS + '[pair]\nprompt = "prompt"\nresponse = "completion"\n' + LABELS + 'label = "label"')
    assert (thumbs.pair.prompt, thumbs.pair.response, thumbs.pair.query) == (("prompt",), ("completion",), None)
    assert thumbs.annotations[0].on == "response"
    turns = read(PAIRS + "[pair]\neach = \"log[*]\"\nprompt = \"['user utterance']\"\nresponse = 'system response'")
    assert (turns.pair.each, turns.pair.prompt, turns.pair.response) == (
        *(("log",), ("user utterance",), ("system response",)),
    )


def test_columns_are_named_as_they_are() -> None:
    declared = read(TURNS + '[dialogue]\nid = "conv.id"\ntitle = "$"\n[speaker]\nname = "the [name]"')
    assert (declared.dialogue.id, declared.dialogue.title, declared.speaker.name) == (
        *(("conv.id",), ("$",), ("the [name]",)),
    )


def test_labels_are_found_as_declared() -> None:
    declared = read(
        HEAD
        + """format = "dialogue"
[dialogue]
turns = "log[*].said[*]"
[turn]
text = "$"
[[annotations]]
scheme = "asks"
by = "$.marks"
annotator = "who"
skip = "void"
each = "result[*]"
only = { kind = "span", sure = true }
turn = "at.turn"
label = "at.labels[*]"
start = "at.start"
end = "at.end"
offsets = "utf-16"
labels = "open"
[[annotations]]
scheme = "flags"
each = "$.moderation[*]"
turn = "#"
value = "$"
[[annotations]]
scheme = "whole"
on = "record"
label = "$.meta.label"
missingValues = ["", "NA"]
[[tasks]]
name = "asks"
kind = "spans"
scheme = "asks"
"""
    )
    asks, flags, whole = declared.annotations
    assert (declared.dialogue.turns, declared.turn.text) == (("log", None, "said"), ())
    assert (asks.by, asks.by_record, asks.each, asks.each_by_record) == (("marks", None), True, ("result", None), False)
    assert (asks.only, asks.label, asks.offsets) == ({"kind": "span", "sure": True}, ("at", "labels", None), "utf-16")
    assert (flags.each_by_record, flags.turn_is_position, flags.turn, flags.value) == (True, True, None, ())
    assert (whole.label, whole.missing_values, whole.labels) == (("meta", "label"), ("", "NA"), None)
    assert (declared.tasks[0].line, declared.scheme("asks")) == (31, "ferry_talk.asks")


def test_a_file_may_be_one_record_with_speakers_inside() -> None:
    declared = read(
        HEAD
        + """format = "dialogue"
[dialogue]
record = "$"
id = "channel.id"
turns = "messages"
[turn]
text = "content"
speaker = "author.id"
said_at = "sent"
reply_to = "reference.messageId"
[speaker]
name = "author.name"
is_bot = "author.isBot"
[times]
said_at = "unix_ms"
"""
    )
    assert (declared.dialogue.record, declared.dialogue.id) == ("file", ("channel", "id"))
    assert (declared.speaker.scope, declared.speaker.is_bot) == ("corpus", ("author", "isBot"))
    assert (declared.turn.reply_to, declared.times) == (("reference", "messageId"), {"said_at": "unix_ms"})


def test_files_of_labels_are_read_with_their_columns() -> None:
    declared = read(
        TURNS + LABEL_FILE + LABELS + 'from = "l.csv"\ndialogue = "d"\nturn = "t.no"\nlabel = "x"\n'
        '[[annotations]]\nscheme = "place"\nfrom = "l.csv"\ndialogue = "d"\nvalue = "y"\n'
    )
    mood, place = declared.annotations
    assert (mood.on, mood.from_file, mood.dialogue, mood.turn) == ("turn", "l.csv", ("d",), ("t.no",))
    assert (place.on, place.turn, place.value) == ("dialogue", None, ("y",))


@pytest.mark.parametrize(
    ("raw", "place", "says"),
    [
        (CHAT.encode("utf-16"), "corpus.toml:1", "not UTF-8"),
        (CHAT.encode() + b"# caf\xe9", "corpus.toml:3", "0xe9"),
        (CHAT.encode() + b"#" * LARGEST, "corpus.toml", "at most 500,000 bytes"),
        (CHAT.encode() + b"a = 1" * 2, "corpus.toml:3", "TOML"),
        (CHAT.encode() + b"n = " + b"9" * 5_000, "corpus.toml", "TOML"),
    ],
    ids=["utf-16", "latin-1", "long", "syntax", "digits"],
)
def test_a_file_that_is_no_declaration_is_named(raw: bytes, place: str, says: str, tmp_path: Path) -> None:
    folder = tmp_path / "ferry_talk"
    folder.mkdir()
    (folder / "corpus.toml").write_bytes(raw)
    with pytest.raises(RegistryError, match=says) as caught:
        of_folder(folder)
    assert str(caught.value.where) == f"ferry_talk/{place}"


def test_a_folder_gives_the_id_and_the_text_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "ferry_talk"
    folder.mkdir()
    with pytest.raises(RegistryError, match="there is no declaration"):
        of_folder(folder)
    text = CHAT.replace("\n", "\r\n") + '[turn]\r\nid = "no"\r\n'
    (folder / "corpus.toml").write_bytes(b"\xef\xbb\xbf" + text.encode())
    declared = of_folder(folder)
    assert (declared.corpus_id, declared.text, declared.place) == ("ferry_talk", text, "ferry_talk/corpus.toml")
    assert (declared.folder, declared.turn.id) == (folder, ("no",))
    folder.rename(tmp_path / "Ferry Talk")
    with pytest.raises(RegistryError, match="can't be called 'Ferry Talk'"):
        of_folder(tmp_path / "Ferry Talk")


KEYS = sorted({key for form in FORMS.values() for keys in form.fields.values() for key in keys})
ANNOTATION_KEYS = (
    *("scheme", "description", "on", "labels", "missingValues", "label", "value", "annotator", "start", "end", "by"),
    *("each", "only", "skip", "turn", "offsets", "columns", "from", "dialogue"),
)
WORDS = st.sampled_from(
    ["a", "", "$", "#", "$.a[*]", "a.b", "[", "turn", "record", "unix", "train", "l.csv", "**", "../x"]
)
VALUES: st.SearchStrategy[Any] = (
    WORDS | st.integers(-1, 1) | st.booleans() | st.lists(WORDS, max_size=2) | st.dictionaries(WORDS, WORDS, max_size=2)
)
TABLE = st.dictionaries(st.sampled_from(KEYS) | WORDS, VALUES, max_size=3)
DOCUMENTS = st.fixed_dictionaries(
    {"title": st.just("T"), "format": st.sampled_from(list(FORMS))},
    optional={
        **dict.fromkeys(("dialogue", "turn", "pair", "preference", "speaker"), TABLE | VALUES),
        **dict.fromkeys(("roles", "splits", "times", "dialect", "markers"), TABLE | VALUES),
        "languages": VALUES,
        "files": st.lists(st.dictionaries(st.sampled_from(["path", "split", "holds", "skip"]), VALUES, max_size=3)),
        "annotations": st.lists(st.dictionaries(st.sampled_from(ANNOTATION_KEYS), VALUES, max_size=6), max_size=3),
        "tasks": st.lists(st.dictionaries(st.sampled_from(["name", "kind", "scheme", "role"]), VALUES), max_size=2),
    },
)


@settings(max_examples=30)
@given(DOCUMENTS)
def test_whatever_it_says_is_read_or_named(document: dict[str, Any]) -> None:
    text = toml_text(document)
    try:
        assert read(text).text == text
    except RegistryError as error:
        place, line = str(error.where).rsplit(":", 1)
        assert (place, 1 <= int(line) <= text.count("\n") + 1) == ("ferry_talk/corpus.toml", True)


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
        ("chat", ["turns=a[-1]"], r"--map turns=a\[-1\]: .* counted from the front"),
        ("chat", ["scope=dialog"], r"--map scope=dialog: .*\n  expected: one of: dialogue, corpus"),
        ("dialogue", ["turns=a"], r"--format dialogue: format = 'dialogue' needs 'text' in \[turn\]"),
    ],
)
def test_a_mistake_names_its_option(format_: str, options: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        from_options("ferry_talk", format_, options)
    assert caught.value.exit_code == 2
    assert re.search(message, str(caught.value))
