"""What is declared of how conversations are read, and a message for everything that is wrong with it."""

from pathlib import Path

import duckdb
import pytest

from talkhouse.charts.declarations import ConversationDisplay, conversations
from talkhouse.charts.query import sql_of_timeline
from talkhouse.queries.files import Files, files_in
from talkhouse.schema.errors import CatalogueError

TIMELINE = '[timeline]\ntitle = "Cups"\nview = "cups"\nperson = "who"\nstate = "cup"\n'
LINE = '[[lines]]\nkind = "toast"\npattern = "to (?P<whom>.*)"\nsentence = "{speaker} drinks to {whom}"\n'


def files(root: Path, text: str) -> Files:
    (root / "tea" / "bi").mkdir(parents=True)
    (root / "tea" / "bi" / "reading.toml").write_text(text, encoding="utf-8")
    return files_in([root])


def declared(root: Path, text: str) -> ConversationDisplay | None:
    return conversations("tea", files(root, text))


def test_a_corpus_says_how_its_conversations_are_read(tmp_path: Path) -> None:
    found = declared(tmp_path, 'explanation = "They drink."\nhidden = ["tea.sips"]\n' + TIMELINE + LINE)
    assert found
    assert found.timeline
    assert (found.explanation, found.hidden, found.timeline.view) == ("They drink.", ("tea.sips",), "cups")
    assert [line.kind for line in found.lines] == ["toast"]
    assert conversations("ale", files_in([tmp_path])) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("explanation = ", "Invalid value"),
        ('hidden = ["ale.sips"]', "ale.sips is no scheme of tea"),
        (TIMELINE + 'colour = "red"', "one of: "),
        (TIMELINE.replace("state", "stats"), "one of: state"),
        (TIMELINE.replace('view = "cups"\n', ""), "missing required field `view`"),
        (LINE.replace("(?P<whom>.*)", "(?P<whom>"), "is none"),
        (LINE.replace("(?P<whom>.*)", "(?P<whom>a)(?P=whom)"), "is none"),  # only Python has these, in any time
        (LINE.replace("(?P<whom>.*)", "(?P<whom>.*)" + "x" * 990), "1,000 characters at most"),
        (LINE.replace("(?P<whom>.*)", "(?P<whom>.*)(x{1000}){1000}"), "is none"),
        (LINE.replace("{whom}", "{who}"), "the sentence names who, which is no group of the pattern"),
        (LINE.replace("{whom}", "{whom"), "expected '}'"),
    ],
)
def test_what_is_wrong_is_said_with_its_file(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(CatalogueError) as caught:
        declared(tmp_path, text)
    assert problem in str(caught.value)
    assert "reading.toml" in str(caught.value)


def test_a_column_that_the_view_has_not_is_said_with_its_line(tmp_path: Path) -> None:
    of_tea = files(tmp_path, TIMELINE)
    found = conversations("tea", of_tea)
    assert found
    assert found.timeline
    with (
        duckdb.connect() as con,
        pytest.raises(CatalogueError) as caught,
        sql_of_timeline(found.timeline, of_tea),
    ):
        con.execute("select who, cup from (select 'Ann' as who, 'blue' as cups)")
    assert "reading.toml:2" in str(caught.value)
    assert "cups" in str(caught.value)


def test_a_pattern_takes_no_longer_for_a_text_that_almost_fits(tmp_path: Path) -> None:
    found = declared(tmp_path, LINE.replace("to (?P<whom>.*)", "(?P<whom>(a|a)*)b"))
    assert found
    none, groups, other = found.lines[0].matches(["a" * 100, "aab", "x\naab"])
    assert (none, other, groups and groups["whom"]) == (None, None, "aa")
