"""Bookmarks: what is open comes back as it was, and a file of somebody else's, or broken, does no harm."""

import re
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from talkhouse.dashboard import bookmarks
from talkhouse.dashboard.bookmarks import Bookmark
from talkhouse.schema.errors import TalkhouseError
from talkhouse.search.search_index import make_index
from tests.browser import Visit
from tests.data_files import data_of
from tests.hostile import TEXTS
from tests.predictions import BREAKDOWNS
from tests.samples import RELEASES
from tests.talkhouse.dashboard.conftest import Compared
from tests.talkhouse.dashboard.pages import draw, html, messages

SECOND = data_of(__file__)["second"]

BY_HAND = f"""\
# what we look at on Mondays

[[bookmark]]
page = "read"  # the page, before the name
name = "first"
choices = {{ corpus = ["a", "b"], text = "rain" }}

# of Ann's, not to be removed
{SECOND}
  # and the last one
[[bookmark]]
name = "third"
page = "tasks"
# the end
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of bookmarks, which is not there yet."""
    path = tmp_path / "marks.toml"
    monkeypatch.setenv("TALKHOUSE_BOOKMARKS", str(path))
    return path


def test_a_file_that_is_edited_by_hand_stays_as_it_is_but_for_what_is_added_and_removed(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(BY_HAND, newline="\r\n")
    choices = {"query": ['select "a"\r\n\\ \x7f """', "x"], "an odd.key": ["\u2028 '''"], "split": []}
    bookmarks.add("#4\n[[bookmark]]", "sql", "note\n# of two lines", choices)
    assert file.read_bytes().decode().startswith(BY_HAND.replace("\n", "\r\n"))
    last = bookmarks.read()[-1]
    assert (last.name, last.note, last.parameters) == ("#4\n[[bookmark]]", "note\n# of two lines", choices)
    with pytest.raises(TalkhouseError, match="already"):
        bookmarks.add("first", "home", "", {})
    for name in ("second", "nobody's", "#4\n[[bookmark]]"):
        bookmarks.remove(name)
    rest = BY_HAND.replace(SECOND, "").replace("\n", "\r\n")
    assert file.read_bytes().decode().rstrip() == rest.rstrip()
    monkeypatch.delenv("TALKHOUSE_BOOKMARKS")
    monkeypatch.setenv("TALKHOUSE_DB", str(file.parent / "a.duckdb"))
    bookmarks.add("beside the warehouse", "read", "", {})
    assert file.with_name("bookmarks.toml").exists()


WRONG = {
    "[[bookmark]]\nname = 'a'\npage = 'read'\n\ncolour = 1\n": (5, "unknown field `colour`"),
    "[[bookmark]]\npage = 'read'\nname = 1\n": (3, "Expected `str`, got `int`"),
    "\n[[bookmark]]\npage = 'read'\n": (2, "missing required field `name`"),
    "[[bookmark]]\nname = 'a'\npage = 'read'\n[bookmark.choices]\ntext = 'b'\ntoken = 'c'\n": (1, "'token'"),
    "[[bookmark]]\nname = 'a'\npage = 'read'\n[[bookmark]]\npage = 'sql'\nname = 'a'\n": (6, "a second bookmark 'a'"),
    f"[[bookmark]]\nname = 'a'\nnote = '{'b' * 2_001}'\npage = 'read'\n": (3, "<= 2000"),
    f"[[bookmark]]\nname = 'a'\npage = 'read'\nchoices = {{text = '{'b' * 20_000}'}}\n": (1, "20,004 characters"),
    "[[bookmark]]\nname = 'a'\npage = 'b'\n" + "".join(f"[[bookmark]]\nname='{n}'\npage='b'\n" for n in range(1_000)): (
        1,
        "<= 1000",
    ),
    "title = 'of another program'\n": (1, "unknown field `title`"),
    "[[bookmark]]\nname = 'a\n": (2, "TOML"),
    "a = " + "[" * 10_000: (1, "levels"),
}


@pytest.mark.slow
def test_a_file_that_is_none_of_ours_is_named_with_its_line_and_never_changed(file: Path) -> None:
    for text, (line, message) in WRONG.items():
        file.write_text(text)
        for change in (bookmarks.read, lambda: bookmarks.add("new", "read", "", {}), lambda: bookmarks.remove("a")):
            with pytest.raises(TalkhouseError, match=re.escape(message)) as caught:
                change()
            assert str(caught.value).startswith(f"{file}:{line}: ")
        assert file.read_text() == text
    file.write_text("bookmark = [{name = 'a', page = 'read'}]\n")
    with pytest.raises(TalkhouseError, match="change it by hand"):
        bookmarks.add("new", "read", "", {})
    file.write_bytes(b"\xff")
    with pytest.raises(TalkhouseError, match="UTF-8"):
        bookmarks.read()
    file.write_bytes(b"# \n" * 700_000)
    with pytest.raises(TalkhouseError, match="too many"):
        bookmarks.read()
    file.unlink()
    file.write_text("".join(Bookmark(f"{number}", "a", choices={"b": "c" * 19_990}).text for number in range(99)))
    with pytest.raises(TalkhouseError, match="too many"):
        bookmarks.add("new", "read", "", {"b": ["c" * 19_990]})
    assert len(bookmarks.read()) == 99
    file.unlink()
    for name, choices in (("", {}), (" ", {}), ("a" * 201, {}), ("a", {"token": ["b"]}), ("a", {"b": ["c" * 20_000]})):
        with pytest.raises(TalkhouseError, match="can't be a bookmark"):
            bookmarks.add(name, "read", "", choices)
    assert not file.exists()


@pytest.mark.slow
@pytest.mark.usefixtures("unprivileged")
def test_a_folder_that_is_read_only_is_said(file: Path) -> None:
    file.write_text(BY_HAND)
    file.parent.chmod(0o555)
    with pytest.raises(TalkhouseError, match=r"can't be written[\s\S]*chmod"):
        bookmarks.add("new", "read", "", {})
    file.parent.chmod(0o755)
    assert [*file.parent.iterdir()] == [file]


@pytest.mark.slow
@pytest.mark.usefixtures("file")
def test_two_that_save_at_once_lose_nothing() -> None:
    with ThreadPoolExecutor(8) as sessions:
        [*sessions.map(lambda number: bookmarks.add(f"{number}", "read", "", {}), range(40))]
    assert {bookmark.name for bookmark in bookmarks.read()} == {f"{number}" for number in range(40)}


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_a_file_of_somebody_else_acts_on_no_page_and_leads_to_no_page_that_is_not_there(file: Path) -> None:
    saved = [
        Bookmark(name=f"{place} {text}"[:200], page="read", note=text, choices={"text": text, text or "a": text})
        for place, text in enumerate(TEXTS)
    ]
    others: dict[str, dict[str, str | list[str]]] = {
        "https://outside.example": {},
        "read": {"corpus": "nobodys"},
        "tasks": {"task": "nobodys.task"},
    }
    saved += [Bookmark(name=f"to {page}", page=page, choices=choices) for page, choices in others.items()]
    file.write_text("".join(bookmark.text for bookmark in saved))
    assert bookmarks.read() == saved
    page = draw("bookmarks")
    assert html(page).count('href="read?') == len(TEXTS)
    for missing in ("corpus nobodys", "page https://outside.example"):
        assert html(page).count(f"there is no {missing} in this warehouse") == (2 if "nobodys" in missing else 1)
    assert not re.search("<(?!/?(a|b|div|span|style)[ >])", html(page))
    file.write_text("[[bookmark]]\n")
    assert f"{file}:1" in messages(draw("bookmarks"))[0]


TASK = f"tasks?task={BREAKDOWNS}&example=3"
TASK_SPLIT = f"tasks?task={BREAKDOWNS}&task_split=eval"
"""Has no choice of an example: that of the one before must not stay."""
QUERY = "sql?query=select+1%0Afrom+%22main%22.corpora&view=main.turns"
"""Runs only where somebody runs it."""

STATES = (
    f"read?corpus={RELEASES}&split=eval&sort=long",
    f"read?dialogue={RELEASES}:CIC9001&turn=4",
    "search?text=the+museum&kind=turn",
    TASK,
    TASK_SPLIT,
    "errors?run=careful&beside=the+gold+answers+alone&by_length=20+to+49&count=Turn+of+the+dialogue",
    "ask?show=Splits%3A+Examples&by=Split",
    QUERY,
    f"{RELEASES}?split=eval",
    f"{RELEASES}?show=Tasks+and+splits",
    "quality?rule=DB-06",
    "scores?table=main.metrics",
    "",
)


@pytest.mark.parametrize(
    "states",
    [
        pytest.param((TASK, TASK_SPLIT, QUERY, STATES[0], STATES[5]), marks=pytest.mark.slow, id="some"),
        pytest.param(STATES, marks=pytest.mark.long, id="all"),
    ],
)
def test_each_state_comes_back_as_it_was(at_runs: Visit, two_runs: Compared, states: tuple[str, ...]) -> None:
    make_index(two_runs.warehouse, lambda _: None)
    page, saved = at_runs.page, dict[str, tuple[str, str]]()
    path = two_runs.folder / "kept.toml"
    path.unlink(missing_ok=True)
    dialog = page.get_by_role("dialog")
    save = dialog.get_by_role("button", name="Save")
    for state in states:
        at_runs.open(state)
        expected, found = (parse_qs(urlsplit(address).query) for address in (state, page.url))
        assert expected == found
        saved[f"*{state}*"] = page.url, page.get_by_role("main").inner_text()
        at_runs.press(page.get_by_role("button", name="Bookmark", exact=True))
        if len(saved) == len(states):
            dialog.get_by_label("Name").fill(f"*{states[0]}*")
            at_runs.act(save.click)
            expect(dialog.get_by_text("already")).to_be_visible()
        dialog.get_by_label("Name").fill(f"*{state}*")
        at_runs.act(save.click)
        expect(page.get_by_text(f"Saved: *{state}*")).to_be_visible()
    assert len(tomllib.loads(path.read_text())["bookmark"]) == len(states)
    assert at_runs.address.partition("token=")[2] not in path.read_text()
    at_runs.follow("/bookmarks")
    links = {link.inner_text(): link.evaluate("one => one.href") for link in page.locator(".found a").all()}
    assert links == {name: url for name, (url, _) in saved.items()}
    for state in (TASK, TASK_SPLIT, QUERY):
        at_runs.follow("/bookmarks")
        at_runs.act(page.get_by_role("main").get_by_role("link", name=f"*{state}*", exact=True).click)
        assert (page.url, page.get_by_role("main").inner_text()) == saved[f"*{state}*"]
    expect(page.get_by_test_id("stDataFrame")).to_have_count(0)
