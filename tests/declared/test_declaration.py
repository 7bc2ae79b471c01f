"""``corpus.toml`` is read strictly: what it may say, its defaults, and the line and words of each mistake."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration import LARGEST, from_options, of_folder, read_declaration
from talkhouse.ingest.declared.declaration.keys import FORMS
from talkhouse.ingest.declared.declaration.model import Declaration, Files, matches, pattern_problem, which
from talkhouse.ingest.declared.declaration.toml_text import toml_text
from talkhouse.schema.errors import RegistryError, UsageError
from tests.data_files import data_of

DATA = data_of(__file__)

HEAD = 'title = "Ferry talk"\n'
CHAT = HEAD + 'format = "chat"\n'
TURNS = HEAD + 'format = "turns"\n[turn]\ntext = "words"\n'
PAIRS = HEAD + 'format = "pairs"\n'
LABELS = '[[annotations]]\nscheme = "mood"\n'
TASK, TRANSCRIPT = CHAT + '[[tasks]]\nname = "a"\nkind = "%s"\n', HEAD + 'format = "transcript"\n'
LABEL_FILE = '[[files]]\npath = "t.csv"\n[[files]]\npath = "l.csv"\nholds = "annotations"\n'


def read(text: str) -> Declaration:
    return read_declaration("ferry_talk", text, "ferry_talk/corpus.toml")


def mistake(text: str) -> RegistryError:
    with pytest.raises(RegistryError) as caught:
        read(text)
    assert caught.value.exit_code == 1
    return caught.value


MISTAKES: list[tuple[str, int, str]] = [(row["text"], row["line"], row["says"]) for row in DATA["mistakes"]]


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
    declared = read(HEAD + DATA["labels_are_found_as_declared"])
    asks, flags, whole = declared.annotations
    assert (declared.dialogue.turns, declared.turn.text) == (("log", None, "said"), ())
    assert (asks.by, asks.by_record, asks.each, asks.each_by_record) == (("marks", None), True, ("result", None), False)
    assert (asks.only, asks.label, asks.offsets) == ({"kind": "span", "sure": True}, ("at", "labels", None), "utf-16")
    assert (flags.each_by_record, flags.turn_is_position, flags.turn, flags.value) == (True, True, None, ())
    assert (whole.label, whole.missing_values, whole.labels) == (("meta", "label"), ("", "NA"), None)
    assert (declared.tasks[0].line, declared.scheme("asks")) == (31, "ferry_talk.asks")


def test_a_file_may_be_one_record_with_speakers_inside() -> None:
    declared = read(HEAD + DATA["a_file_may_be_one_record_with_speakers_inside"])
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


@pytest.mark.parametrize(("format_", "options", "message"), DATA["a_mistake_names_its_option"])
def test_a_mistake_names_its_option(format_: str, options: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        from_options("ferry_talk", format_, options)
    assert caught.value.exit_code == 2
    assert re.search(message, str(caught.value))


# Which files a pattern fits: as a regular expression of the same meaning does, but in linear time.

PARTS = st.sampled_from(["**", "*", "a*", "*a", "a*b*a", "*.a", "a", "ab", "a.a", "b"])
NAMES = st.sampled_from(["a", "b", "ab", "aba", "abba", "a.a", "b.a", ".a", "aa", "[a]"])


def as_expression(pattern: str) -> str:
    pieces = []
    for part in pattern.split("/"):
        pieces.append("(?:[^/]+/)*" if part == "**" else re.escape(part).replace(r"\*", "[^/]*") + "/")
    return "".join(pieces[:-1]) + (".+" if pattern.rsplit("/", 1)[-1] == "**" else pieces[-1].removesuffix("/"))


@settings(max_examples=60)
@given(st.lists(PARTS, min_size=1, max_size=5), st.lists(NAMES, min_size=1, max_size=5))
def test_a_pattern_fits_what_its_expression_fits(parts: list[str], names: list[str]) -> None:
    pattern, path = "/".join(parts), "/".join(names)
    assert pattern_problem(pattern) is None
    assert matches(pattern, path) == (re.fullmatch(as_expression(pattern), path) is not None)


@settings(max_examples=30)
@given(st.text(alphabet="a*?[]/", max_size=6), st.text(alphabet="a*?[]/", max_size=6))
def test_a_path_fits_itself_and_without_a_star_no_other(path: str, other: str) -> None:
    assert "**" in path or matches(path, path)
    assert "*" in path or matches(path, other) == (path == other)


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("*.jsonl", ["a.jsonl", ".jsonl"], ["b/a.jsonl", "a.jsonl.gz", "A.JSONL"]),
        ("**/*.jsonl", ["a.jsonl", "b/c.zip/a.jsonl"], ["a.json"]),
        ("data/**", ["data/a", "data/b/c"], ["data", "database/a"]),
        ("log [1].json", ["log [1].json"], ["log 1.json"]),
        ("a?.csv", ["a?.csv"], ["ab.csv"]),
    ],
)
def test_a_star_stays_within_a_name(pattern: str, fitting: list[str], others: list[str]) -> None:
    assert [path for path in [*fitting, *others] if matches(pattern, path)] == fitting


def test_no_pattern_takes_exponential_time() -> None:
    assert not matches("/".join(["**", "*a*a*a*a*a*b"] * 40), "/".join(["a" * 1_000] * 100))


def test_a_file_is_in_one_pattern_or_the_lines_of_two_are_named() -> None:
    text = (
        'title = "T"\nformat = "chat"\n[[files]]\npath = "*.jsonl"\n[[files]]\nskip = "old"\npath = "old/*"\n'
        '[[files]]\npath = "a.*"\n'
    )
    declaration = read_declaration("ferry_talk", text, "ferry_talk/corpus.toml")
    assert which(declaration, "b.jsonl") == declaration.files[0]
    assert which(declaration, "old/b") == declaration.files[1]
    assert which(declaration, "notes.txt") is None
    with pytest.raises(RegistryError, match=r"corpus\.toml:9: .*\n.*\n.*'\*\.jsonl' \(.*:4\).*'a\.\*' \(.*:9\)"):
        which(declaration, "a.jsonl")
