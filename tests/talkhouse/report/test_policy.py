"""What a browser lets a report do: show what we wrote, and nothing that somebody else put into it."""

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from playwright.sync_api import Page as Tab

from tests.accessibility import LOOKS, Look, looks_of, show, wrong
from tests.data_files import data_of
from tests.talkhouse.report.page import Page

DATA = data_of(__file__)

INJECTED = DATA["injected"]

EVAL = """() => new Promise(done => setTimeout(() => {
  try { done(eval('1')) } catch (error) { done(error.name) }
}))"""
"""By a timer, for the code that a test sends may do what the page may not."""


CUT = DATA["cut"]
"""All that reaches out of the window at a side, drawings with their texts, or is wider than the box that it is in."""


def digest(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


@pytest.mark.slow
def test_the_policy_allows_this_style_and_no_script(page: Page) -> None:
    (policy,) = (
        found["content"] for tag, found in page.elements if found.get("http-equiv") == "Content-Security-Policy"
    )
    (style,) = re.findall(r"<style>(.*?)</style>", page.source, re.DOTALL)
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src {digest(style)}",
        "script-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert not [name for _, found in page.elements for name in found if name == "style" or name.startswith("on")]


@pytest.fixture
def tab(browser: Browser, request: pytest.FixtureRequest) -> Iterator[tuple[Tab, list[str]]]:
    """An empty tab in light or dark, and all that goes wrong in it."""
    with browser.new_context(color_scheme=getattr(request, "param", "light")) as context:
        opened, wrong = context.new_page(), list[str]()
        opened.on("console", lambda message: wrong.append(message.text))
        opened.on("pageerror", lambda error: wrong.append(str(error)))
        context.on("request", lambda item: None if item.url.startswith("file:") else wrong.append(item.url))
        yield opened, wrong


@pytest.mark.slow
@pytest.mark.parametrize("tab", ["light", "dark"], indirect=True)
def test_all_charts_are_drawn_under_the_policy(tab: tuple[Tab, list[str]], report: Path, page: Page) -> None:
    opened, wrong = tab
    opened.goto(report.as_uri())
    heights = opened.eval_on_selector_all("figure > svg", "all => all.map(one => one.getBoundingClientRect().height)")
    assert len(heights) == len(page.drawings)
    assert min(heights) > 30
    text = "getComputedStyle(document.querySelector('figure > svg text')).fill"
    assert opened.evaluate(text) == opened.evaluate("getComputedStyle(document.body).color")
    assert opened.pdf()[:4] == b"%PDF"
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [1400, 390])
def test_nothing_is_cut_at_the_right(tab: tuple[Tab, list[str]], report: Path, width: int) -> None:
    opened, _ = tab
    opened.set_viewport_size({"width": width, "height": 1000})
    opened.goto(report.as_uri())
    opened.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true })")
    assert opened.evaluate(CUT) == []
    assert opened.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.slow
def test_a_print_shows_all_rows_and_the_summary_fits_four_pages(
    tab: tuple[Tab, list[str]], report: Path, page: Page
) -> None:
    opened, _ = tab
    opened.goto(report.as_uri())
    assert page.continued
    opened.emulate_media(media="print")
    hidden = "all => all.filter(one => !one.checkVisibility({contentVisibilityAuto: true})).length"
    assert opened.eval_on_selector_all(".more td:not(.numbers *)", hidden) == 0
    # A4 at 96 dots per inch, without the margins.
    opened.set_viewport_size({"width": 688, "height": 1001})
    assert opened.evaluate("document.querySelector('nav').getBoundingClientRect().top + scrollY") < 4 * 1001


@pytest.mark.slow
def test_nothing_that_is_put_into_a_report_acts(tab: tuple[Tab, list[str]], report: Path, tmp_path: Path) -> None:
    opened, wrong = tab
    path = tmp_path / "injected.html"
    path.write_text(report.read_text(encoding="utf-8").replace("<main", f"{INJECTED}<main"), encoding="utf-8")
    reached: list[str] = []
    opened.route("http://**", lambda item: (reached.append(item.request.url), item.fulfill(body=""))[1])
    opened.goto(path.as_uri())
    assert opened.evaluate("getComputedStyle(document.getElementById('styled')).color") != "rgb(1, 2, 3)"
    assert opened.evaluate("document.baseURI") == path.as_uri()
    assert opened.evaluate(EVAL) == "EvalError"
    opened.evaluate("for (const name of ['link', 'send']) document.getElementById(name).click()")
    assert opened.evaluate("window.acted") is None
    assert opened.url == path.as_uri()
    assert reached == []
    messages = [message for message in wrong if not message.startswith("http://")]
    assert len(messages) >= 9
    assert all("Content Security Policy" in message for message in messages)


@pytest.mark.parametrize("looks", LOOKS)
def test_axe_finds_nothing_wrong(browser: Browser, report: Path, looks: Sequence[Look]) -> None:
    with browser.new_context() as context:
        opened = context.new_page()
        opened.goto(report.as_uri())
        for look in looks_of(0, looks):  # a site has the same sections in the other look
            show(opened, look)
            assert wrong(opened) == [], look
