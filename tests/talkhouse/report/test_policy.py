"""What a browser lets a report do: run the one script that we wrote, and nothing that somebody else put into it."""

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from playwright.sync_api import Page as Tab

from tests.browser import launched
from tests.talkhouse.report.page import Page

INJECTED = """
<script>window.acted = 'script'</script>
<img src="x.png" onerror="window.acted = 'attribute'">
<a id="link" href="javascript:window.acted = 'link'">link</a>
<svg><script>window.acted = 'svg'</script></svg>
<iframe srcdoc="<script>parent.acted = 'frame'</script>"></iframe>
<form action="http://outside.example/"><button id="send">send</button></form>
<link rel="stylesheet" href="http://outside.example/a.css">
<style>h1 { color: rgb(1, 2, 3) }</style>
<h1 id="styled" style="color: rgb(1, 2, 3)">title</h1>
<base href="http://outside.example/">
"""

DRAWN = """() => [...document.querySelectorAll('[data-drawing]')].every(place => place.querySelector('svg path'))"""


EVAL = """() => new Promise(done => setTimeout(() => {
  try { done(eval('1')) } catch (error) { done(error.name) }
}))"""
"""By a timer, for the code that a test sends may do what the page may not."""


def digest(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def test_the_policy_allows_this_style_and_this_script_alone(page: Page) -> None:
    (policy,) = (
        found["content"] for tag, found in page.elements if found.get("http-equiv") == "Content-Security-Policy"
    )
    (style,) = re.findall(r"<style>(.*?)</style>", page.source, re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", page.source, re.DOTALL)
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src {digest(style)}",
        f"script-src {digest(script)}",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert not [name for _, found in page.elements for name in found if name == "style" or name.startswith("on")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as started:
        yield started


@pytest.fixture
def tab(browser: Browser, request: pytest.FixtureRequest) -> Iterator[tuple[Tab, list[str]]]:
    """An empty tab in light or dark, and all that goes wrong in it."""
    with browser.new_context(color_scheme=getattr(request, "param", "light")) as context:
        opened, wrong = context.new_page(), list[str]()
        opened.on("console", lambda message: wrong.append(message.text))
        opened.on("pageerror", lambda error: wrong.append(str(error)))
        context.on("request", lambda one: None if one.url.startswith("file:") else wrong.append(one.url))
        yield opened, wrong


@pytest.mark.slow
@pytest.mark.parametrize("tab", ["light", "dark"], indirect=True)
def test_all_charts_are_drawn_under_the_policy(tab: tuple[Tab, list[str]], report: Path, page: Page) -> None:
    opened, wrong = tab
    opened.goto(report.as_uri())
    opened.wait_for_function(DRAWN)
    assert opened.locator("[data-drawing]").count() == len(page.drawings)
    mark = opened.locator("[data-drawing] .mark-rect path").first
    mark.hover(force=True)
    tooltip = opened.locator("#vg-tooltip-element")
    tooltip.wait_for(state="visible")
    assert tooltip.evaluate("shown => getComputedStyle(shown).position") == "fixed"
    assert opened.pdf()[:4] == b"%PDF"
    assert wrong == []


@pytest.mark.slow
def test_nothing_that_is_put_into_a_report_acts(tab: tuple[Tab, list[str]], report: Path, tmp_path: Path) -> None:
    opened, wrong = tab
    path = tmp_path / "injected.html"
    path.write_text(report.read_text(encoding="utf-8").replace("<main", f"{INJECTED}<main"), encoding="utf-8")
    reached: list[str] = []
    opened.route("http://**", lambda one: (reached.append(one.request.url), one.fulfill(body=""))[1])
    opened.goto(path.as_uri())
    opened.wait_for_function(DRAWN)
    colour = "getComputedStyle(document.getElementById('styled')).color"
    assert opened.evaluate(colour) != "rgb(1, 2, 3)"
    assert opened.evaluate("document.baseURI") == path.as_uri()
    assert opened.evaluate(EVAL) == "EvalError"
    opened.evaluate("for (const name of ['link', 'send']) document.getElementById(name).click()")
    assert opened.evaluate("window.acted") is None
    assert opened.url == path.as_uri()
    assert reached == []
    messages = [one for one in wrong if not one.startswith("http://")]
    assert len(messages) >= 9
    assert all("Content Security Policy" in one for one in messages)
