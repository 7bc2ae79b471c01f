"""Read in a browser: it arrives at the turn that an address names, and keys walk through the list."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import Served, Visit, visit
from tests.samples import RELEASES

pytestmark = pytest.mark.slow

HERE = "() => document.activeElement?.matches('.turn.here') ? document.activeElement.id : null"


def parameters(visited: Visit) -> dict[str, list[str]]:
    """What the address says."""
    return parse_qs(urlsplit(visited.page.url).query)


def arrived(visited: Visit) -> str:
    """Wait until a turn has the focus and is in sight; return its id."""
    visited.page.wait_for_function(HERE)
    turn = visited.page.locator(".turn.here")
    expect(turn).to_be_in_viewport(ratio=0.5)
    return turn.get_attribute("id") or ""


def test_an_address_with_a_turn_opens_there(browser: Browser, pages: Served) -> None:
    with visit(browser, pages.url, viewport={"width": 1400, "height": 300}) as low:
        low.open(f"read?dialogue={RELEASES}:CIC9001&turn=6")
        assert arrived(low) == "turn-6"
        assert low.page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") > 0
        assert low.wrong == []


def test_a_hit_opens_at_the_hit(visited: Visit) -> None:
    visited.open("read?text=MUSEUM")
    hit = visited.page.locator(".found .hit a").last
    number = hit.inner_text()
    hit.click()
    assert arrived(visited) == f"turn-{number}"
    assert visited.page.locator(".turn.here mark").inner_text().lower() == "museum"


def test_keys_walk_through_the_list_and_back(visited: Visit) -> None:
    visited.open(f"read?corpus={RELEASES}&sort=disagreement")
    visited.act(lambda: visited.page.locator(".st-key-rows a").first.click())
    first, turn = parameters(visited), arrived(visited)
    assert first["turn"] == [turn.removeprefix("turn-")]
    visited.act(lambda: visited.page.keyboard.press("ArrowRight"))
    assert parameters(visited)["dialogue"] != first["dialogue"]
    arrived(visited)
    visited.act(lambda: visited.page.keyboard.press("ArrowLeft"))
    assert parameters(visited) == first


def test_a_facet_is_a_check_box_that_the_address_keeps(visited: Visit) -> None:
    visited.open(f"read?corpus={RELEASES}")
    box = visited.page.get_by_role("checkbox", name="eval")
    assert visited.page.get_by_role("checkbox", name=f"{RELEASES} (").first.is_checked()
    visited.act(lambda: visited.page.locator(".st-key-facets .stCheckbox", has=box).click())
    # The page also runs by itself, to look for a new build: that may be what has ended.
    expect(box).to_be_checked()
    visited.page.wait_for_url("**split=eval")
    assert parameters(visited) == {"corpus": [RELEASES], "split": ["eval"]}
