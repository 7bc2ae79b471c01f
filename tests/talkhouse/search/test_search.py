"""``search``: the turns that contain a text, to the character, with the turns around them."""

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import talkhouse
from talkhouse import migrations
from talkhouse.schema import warehouse
from talkhouse.schema.errors import UsageError
from talkhouse.search.containing import SearchMatches, search
from tests.commands import COMMAND, on_a_terminal, run
from tests.conftest import wait_for

LONG = "filler " * 200
DIALOGUES = {
    "alpha:one": [
        "100% sure",
        "a_b or a*b",
        "back\\slash 'quote' \"double\"",
        "Straße CAFÉ",
        "caf\u00e9",
        "cafe\u0301",
    ],
    "alpha:two": ["cat", "concatenate", "a cat, two cats", "", "猫がいる", "line one\nline two"],
    "alpha:evil": ["\x1b[2Jwiped \x07\u202ecba\x9b31m needle", "tab\there"],
    "beta:one": [f"{LONG}needle {LONG}", "after", "[bold]needle[/bold] $1 \\0 \\1"],
    "alphabet:one": ["needle in another corpus"],
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of turns whose words are chosen to be hard to find."""
    path = tmp_path_factory.mktemp("search") / "w.duckdb"
    migrations.upgrade(path)
    with warehouse.create(path) as con:
        for dialogue_id, texts in DIALOGUES.items():
            corpus, _, name = dialogue_id.partition(":")
            con.execute("insert into main.dialogues (dialogue_id, corpus_id) values (?, ?)", [dialogue_id, corpus])
            record = [f"{corpus}/{name}", corpus, dialogue_id, "dev" if corpus == "beta" else "test"]
            columns = "record_id, corpus_id, dialogue_id, split, standard_split, record_index, source_file_id"
            standard = "validation" if corpus == "beta" else "test"
            con.execute(
                f"insert into main.records ({columns}, source_pointer) values (?, ?, ?, ?, ?, 0, '', '')",
                [*record, standard],
            )
            for index, text in enumerate(texts):
                role = "system" if index % 2 else "user"
                con.execute(
                    "insert into main.turns (dialogue_id, turn_index, role, kind, text) values (?, ?, ?, 'message', ?)",
                    [dialogue_id, index, role, text],
                )
        con.execute(
            """
            insert into main.corpora by name
            select distinct corpus_id, '' as title, '' as description, '' as homepage, '' as licence, '' as terms,
                '' as citation, 'en' as languages, 1 as reader_version, true as is_sample
            from main.dialogues
            """
        )
    return path


@pytest.fixture
def searched(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with talkhouse.open(path) as con:
        yield con


def indexes(found: SearchMatches) -> list[tuple[str, int]]:
    return [(hit.dialogue_id, hit.turn_index) for hit in found.hits]


def everywhere() -> Iterator[tuple[str, int, str]]:
    for dialogue_id, texts in sorted(DIALOGUES.items()):
        yield from ((dialogue_id, index, text) for index, text in enumerate(texts))


@pytest.mark.parametrize("text", [*"%_\\'\"é\u00c9ß猫.\n\x1b", "a_b", "a*b", "e\u0301", "cat", "[bold]", "$1", "\\0"])
def test_a_text_is_found_to_the_character(searched: duckdb.DuckDBPyConnection, text: str) -> None:
    found = search(searched, text, match_case=True)
    assert indexes(found) == [(name, index) for name, index, whole in everywhere() if text in whole]
    assert found.turns == len(found.hits)
    assert found.dialogues == len({hit.dialogue_id for hit in found.hits})
    for hit in found.hits:
        assert hit.text == DIALOGUES[hit.dialogue_id][hit.turn_index]
        assert [hit.text[begin:end] for begin, end in hit.matches] == [text] * hit.text.count(text)


def test_case_matters_on_demand(searched: duckdb.DuckDBPyConnection) -> None:
    assert indexes(search(searched, "CAT", match_case=True)) == []
    assert indexes(search(searched, "CAT")) == [("alpha:two", index) for index in range(3)]
    assert indexes(search(searched, "café")) == [("alpha:one", 3), ("alpha:one", 4)]
    assert indexes(search(searched, "A.B")) == [], "a point is a point"


def test_a_regular_expression_knows_where_it_matched(searched: duckdb.DuckDBPyConnection) -> None:
    found = search(searched, r"\bcats?\b", regex=True)
    assert [(hit.text, hit.matches) for hit in found.hits] == [
        ("cat", [(0, 3)]),
        ("a cat, two cats", [(2, 5), (11, 15)]),
    ]
    assert indexes(search(searched, "one.line", regex=True)) == []
    assert indexes(search(searched, "(?s)one.line", regex=True)) == [("alpha:two", 5)]
    assert indexes(search(searched, r"C\wFÉ", regex=True)) == [("alpha:one", 3), ("alpha:one", 4)]
    assert len(search(searched, "x*", regex=True, limit=100).hits) == sum(map(len, DIALOGUES.values())), (
        "nothing is there too"
    )


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "(?=look)", "[z-a]", "\\"])
def test_a_malformed_expression_is_refused_with_re2s_words(searched: duckdb.DuckDBPyConnection, pattern: str) -> None:
    with pytest.raises(UsageError) as raised:
        search(searched, pattern, regex=True)
    assert raised.value.found
    assert "Error" not in raised.value.found
    assert search(searched, pattern).turns >= 0


def test_the_turns_around_come_along(searched: duckdb.DuckDBPyConnection) -> None:
    hit = search(searched, "猫", context=2).hits[0]
    assert [turn.turn_index for turn in hit.before] == [2, 3]
    assert [turn.text for turn in hit.after] == ["line one\nline two"]
    assert search(searched, "猫", context=0).hits[0].before == []
    assert len(search(searched, "猫", context=10**12).hits[0].before) == 4


def test_a_corpus_is_not_its_namesake(searched: duckdb.DuckDBPyConnection) -> None:
    assert indexes(search(searched, "needle", corpus="alpha")) == [("alpha:evil", 0)]
    assert indexes(search(searched, "needle")) == [
        ("alpha:evil", 0),
        ("alphabet:one", 0),
        ("beta:one", 0),
        ("beta:one", 2),
    ]


def test_role_and_split_narrow_it(searched: duckdb.DuckDBPyConnection) -> None:
    assert indexes(search(searched, "a", role="system", corpus="beta")) == [("beta:one", 1)]
    assert {hit.splits[0] for hit in search(searched, "needle", split="dev").hits} == {"dev"}
    assert indexes(search(searched, "needle", split="dev")) == indexes(search(searched, "needle", split="validation"))


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"corpus": "gamma"}, "alpha, alphabet, beta"),
        ({"role": "robot"}, "system, user"),
        ({"split": "train"}, "dev, test, validation"),
        ({"split": "dev", "corpus": "alpha"}, "one of: test"),
    ],
)
def test_wrong_names_get_the_right_ones(
    searched: duckdb.DuckDBPyConnection, wanted: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        search(searched, "needle", **wanted)


def test_a_limit_keeps_the_first_and_counts_all(searched: duckdb.DuckDBPyConnection) -> None:
    whole = search(searched, "a", limit=1000)
    for limit in (0, 1, 3):
        found = search(searched, "a", limit=limit)
        assert found.hits == whole.hits[:limit]
        assert (found.turns, found.dialogues) == (whole.turns, whole.dialogues)


def test_json_is_exact_and_safe_to_look_at(path: Path) -> None:
    shown = run("search", "needle", "--db", path, "--json")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown.stdout)
    hits = json.loads(shown.stdout)
    assert [(hit["dialogue_id"], hit["turn_index"], hit["text"]) for hit in hits] == [
        (name, index, text) for name, index, text in everywhere() if "needle" in text
    ]
    assert hits[0]["after"][0]["text"] == "tab\there"
    assert hits[0]["corpus_id"] == "alpha"
    nothing = run("search", "haystack", "--db", path, "--json")
    assert (nothing.returncode, nothing.stdout) == (0, "[]\n")
    assert nothing.stderr == "no turn contains 'haystack'\n"


def test_a_pipe_gets_whole_lines_of_columns(path: Path) -> None:
    shown = run("search", "needle", "--db", path, "--limit", 3)
    lines = [line.split("\t") for line in shown.stdout.splitlines()]
    assert [(line[0], int(line[1]), line[2]) for line in lines] == [
        ("alpha:evil", 0, ">"),
        ("alpha:evil", 1, ""),
        ("alphabet:one", 0, ">"),
        ("beta:one", 0, ">"),
        ("beta:one", 1, ""),
    ]
    assert lines[0][-1] == r"\x1b[2Jwiped \x07\u202ecba\x9b31m needle"
    assert lines[1][-1] == r"tab\there"
    assert lines[3][-1] == DIALOGUES["beta:one"][0]
    assert shown.stderr == "found in 4 turns of 3 dialogues; 1 more with a higher --limit\n"


@pytest.mark.parametrize("columns", [40, 100])
def test_a_terminal_gets_the_match_without_control_characters(path: Path, tmp_path: Path, columns: int) -> None:
    shown = on_a_terminal(["search", "needle", "--db", path], tmp_path, columns)
    assert shown.count("\x1b[1;31mneedle\x1b[0m") == 4
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert not re.search("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]", plain)
    found = [line for line in plain.split("\r\n") if not line.startswith(("found", "show a whole"))]
    assert max(map(len, found)) <= columns
    assert "\N{HORIZONTAL ELLIPSIS}" in plain
    assert "[bold]needle[/bold]" in plain
    assert len(found) < 40, "the long text is cut around its match"


def test_case_is_an_option_and_an_id_is_named(path: Path) -> None:
    assert run("search", "NEEDLE", "--db", path).stderr.startswith("found in 4 turns")
    assert run("search", "NEEDLE", "--ignore-case", "--db", path).stderr.startswith("found in 4 turns")
    assert run("search", "NEEDLE", "--case-sensitive", "--db", path).stderr == "no turn contains 'NEEDLE'\n"
    named = run("search", "Alpha:ONE", "--db", path)
    assert named.stderr == "no turn contains 'Alpha:ONE'\nthe id of a dialogue: talkhouse show alpha:one\n"


def test_nothing_to_look_for_is_wrong_use(path: Path) -> None:
    for arguments in (["search", ""], ["search", "(", "--regex"], ["search", "x", "--corpus", "gamma"]):
        shown = run(*arguments, "--db", path)
        assert shown.returncode == 2, arguments
        assert "error:" in shown.stderr
        assert "Traceback" not in shown.stderr


def test_text_that_is_no_unicode_is_refused(path: Path) -> None:
    done = subprocess.run([*COMMAND, "search", b"\xff", "--db", path], capture_output=True, timeout=300)
    assert done.returncode == 2
    assert b"not valid Unicode" in done.stderr


@pytest.mark.slow
def test_ctrl_c_ends_a_search_quietly(path: Path, tmp_path: Path) -> None:
    script = (
        "import talkhouse.search.containing as module\n"
        "from pathlib import Path\n"
        "def slow(con, *_, **__):\n"
        "    Path('started').touch()\n"
        "    con.execute('select count(*) from range(1000000) a, range(1000000) b where a.range * b.range = -1')\n"
        "module.search = slow\n"
        "from talkhouse.cli import main; main()"
    )
    process = subprocess.Popen(
        [COMMAND[0], "-c", script, "search", "x", "--db", path], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    wait_for(tmp_path / "started", process)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=300)
    assert (process.returncode, stderr) == (130, "interrupted\n")
