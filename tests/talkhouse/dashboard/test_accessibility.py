"""Every page by the criteria of WCAG 2.2 AA, as far as axe-core can tell, at either width and in either theme."""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

import duckdb
import pytest
from playwright.sync_api import Browser

from talkhouse.dashboard.bookmarks import Bookmark
from talkhouse.search.search_index import make_index
from talkhouse.search.turn_vectors import make_from_file
from tests.accessibility import LOOKS, PHONE, Exempt, Look, Wrong, looks_of, show, wrong
from tests.browser import Served, Visit, visit
from tests.samples import RELEASES
from tests.talkhouse.dashboard.conftest import Compared
from tests.vectors import invented, turns_of

STREAMLIT = [
    Exempt("list", "[data-testid='stSidebarNavItems']", "the navigation has its sections' titles among the items"),
    Exempt("listitem", "[data-testid='stSidebarNavItems']", "its items stand in a <div> of the list"),
    # Dark: one primary colour is the chosen button's text and the ground of white text; none has 4.5:1 as both.
    Exempt("color-contrast", "[data-testid='stButtonGroup']", "the chosen button has the text 3.57:1 in dark"),
    Exempt("target-size", "[data-testid='stTooltipHoverTarget']", "the sign for help beside a word is 16 pixels high"),
]
"""What Streamlit's own elements break; none of its options changes them."""


SIDEWAYS = """() => [...document.querySelectorAll('[data-testid=stMain], .rows')]
    .filter(one => one.scrollWidth > one.clientWidth)
    .map(one => `${one.getAttribute('aria-label')}: ${one.scrollWidth} pixels in ${one.clientWidth}`)"""
"""Returns the page and the tables whose rows can only be read by scrolling sideways."""


@pytest.fixture(scope="module")
def conversations(opened: duckdb.DuckDBPyConnection) -> Sequence[str]:
    """The address of a conversation of each corpus."""
    longest = "select max_by(dialogue_id, turn_count) from bi.dialogues group by corpus_id order by all"
    return [f"/read?{urlencode({'dialogue': found})}" for (found,) in opened.execute(longest).fetchall()]


@pytest.fixture(scope="module")
def searches(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Sequence[str]:
    """The addresses of a search by words, and of one for texts that are like a turn, also by meaning."""
    make_index(sample, lambda _: None)
    vectors = tmp_path_factory.mktemp("given") / "vectors.parquet"
    invented(turns_of(sample)).write_parquet(vectors)
    make_from_file(sample, vectors)
    like = f"/search?like={RELEASES}:CIC9001&turn=4"
    return ["/search?text=the+museum+train", f"{like}&kind=turn", f"{like}&by=meaning&colour={RELEASES}.breakdown"]


@pytest.mark.parametrize("looks", LOOKS)
def test_axe_finds_nothing_wrong(
    browser: Browser, pages: Served, conversations: Sequence[str], searches: Sequence[str], looks: Sequence[Look]
) -> None:
    with visit(browser, pages.url) as visited:
        visited.open()
        assert breaking(visited, [*visited.links(), *conversations, *searches], looks) == {}


@pytest.mark.parametrize("looks", LOOKS)
def test_nor_with_saved_runs(browser: Browser, two_runs: Compared, looks: Sequence[Look]) -> None:
    bookmarks = two_runs.folder / "kept.toml"
    saved = [Bookmark("first", "errors", "a note", {"run": "careful"}), Bookmark("second", "tea")]
    bookmarks.write_text("".join(bookmark.text for bookmark in saved))
    with visit(browser, two_runs.pages.url) as visited:
        visited.open()
        assert breaking(visited, ["errors", "errors?of=Files", "scores", "bookmarks"], looks) == {}
        visited.press(visited.page.get_by_role("button", name="Remove").first)
        assert bookmarks.read_text() == saved[1].text
        visited.open()
        visited.press(visited.page.get_by_role("button", name="Bookmark", exact=True))
        assert wrong(visited.page, STREAMLIT) == []
        show(visited.page, ("light", 390))
        visited.open("errors")
        assert visited.page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth <= innerWidth")


def breaking(visited: Visit, paths: Sequence[str], looks: Sequence[Look]) -> dict[str, list[Wrong]]:
    """Return the violations on pages, by page and theme."""
    found: dict[str, list[Wrong]] = {}
    assert looks[0][1] == PHONE
    for number, path in enumerate(paths):
        show(visited.page, looks[0])
        visited.turn_to(path)
        assert not visited.errors(), path
        assert visited.page.evaluate(SIDEWAYS) == [], path
        for look in looks_of(number, looks):
            show(visited.page, look)
            if elements := wrong(visited.page, STREAMLIT):
                found[f"{path}, {look}"] = elements
    assert visited.wrong == []
    return found
