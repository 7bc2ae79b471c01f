"""Every page by the criteria of WCAG 2.2 AA, as far as axe-core can tell, at both widths and in both themes."""

from collections.abc import Sequence
from urllib.parse import urlencode

import duckdb
import pytest
from playwright.sync_api import Browser

from tests.accessibility import LOOKS, Exempt, Look, Wrong, show, wrong
from tests.browser import Served, visit

STREAMLIT = [
    Exempt("list", "[data-testid='stSidebarNavItems']", "the navigation has its sections' titles among the items"),
    Exempt("listitem", "[data-testid='stSidebarNavItems']", "its items stand in a <div> of the list"),
    # Dark: one primary colour is the chosen button's text and the ground of white text; none has 4.5:1 as both.
    Exempt("color-contrast", "[data-testid='stButtonGroup']", "the chosen button has the text 3.57:1 in dark"),
    Exempt("target-size", "[data-testid='stTooltipHoverTarget']", "the sign for help beside a word is 16 pixels high"),
]
"""What Streamlit's own elements break; none of its options changes them."""


@pytest.fixture(scope="module")
def conversations(opened: duckdb.DuckDBPyConnection) -> Sequence[str]:
    """The address of a conversation of each corpus."""
    longest = "select max_by(dialogue_id, turn_count) from bi.dialogues group by corpus_id order by all"
    return [f"/read?{urlencode({'dialogue': found})}" for (found,) in opened.execute(longest).fetchall()]


@pytest.mark.parametrize("looks", LOOKS)
def test_axe_finds_nothing_wrong(
    browser: Browser, pages: Served, conversations: Sequence[str], looks: Sequence[Look]
) -> None:
    found: dict[str, list[Wrong]] = {}
    with visit(browser, pages.url) as visited:
        visited.open()
        for path in [*visited.links(), *conversations]:
            show(visited.page, looks[0])
            visited.turn_to(path)
            assert not visited.errors(), path
            for look in looks:
                show(visited.page, look)
                if breaking := wrong(visited.page, STREAMLIT):
                    found[f"{path}, {look}"] = breaking
        assert visited.wrong == []
    assert found == {}
