"""What axe-core finds wrong on a page that is open in a browser, by the criteria of WCAG 2.2 AA."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import pytest
from axe_playwright_python.sync_playwright import Axe
from hypothesis import settings
from playwright.sync_api import Page

_DESK, PHONE = 1400, 390

Look = tuple[Literal["light", "dark"], int]
"""A theme, and the width of a window in pixels."""

_LIGHT, _DARK = "light", "dark"

_SLOW_AND_LONG = (pytest.mark.slow, pytest.mark.long)

LOOKS = [
    pytest.param([(_DARK, PHONE), (_LIGHT, _DESK)], id="dark and narrow, light and wide", marks=_SLOW_AND_LONG),
    # What a theme changes is the same at both widths, and what a width changes in both themes.
    pytest.param([(_LIGHT, PHONE), (_DARK, _DESK)], id="light and narrow, dark and wide", marks=pytest.mark.long),
]
"""Looks of a page, one after the other; narrow first where a page is opened, for there the navigation folds away."""


def looks_of(page: int, looks: Sequence[Look]) -> Sequence[Look]:
    """Return the looks in which one of many pages is tried: the slow lane takes them in turn."""
    return [looks[page % len(looks)]] if settings.get_current_profile_name() == "slow" else looks


_GROUND = "() => getComputedStyle(document.querySelector('[data-testid=stApp]') ?? document.body).backgroundColor"


_SETTLED = """() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => resolve(
    document.getAnimations().every(one => one.playState !== 'running' || one.timeline !== document.timeline)
))))"""
"""Holds when colours no longer pass over into others; animations that follow scrolling never end."""


def show(page: Page, look: Look) -> None:
    """Show a page in a theme and width; another theme has arrived when the ground has changed, and all with it."""
    theme, width = look
    before = page.evaluate(_GROUND)
    is_other = page.evaluate("theme => !matchMedia(`(prefers-color-scheme: ${theme})`).matches", theme)
    page.set_viewport_size({"width": width, "height": 1000})
    page.emulate_media(color_scheme=theme)
    if is_other:
        page.wait_for_function(f"before => ({_GROUND})() !== before", arg=before)
        page.wait_for_function(_SETTLED)


_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


class Exempt(NamedTuple):
    """Elements that a framework makes, and that no page of ours can mend."""

    rule: str
    """axe-core's name of it."""
    selector: str
    """Which elements: they, and what is in them."""
    reason: str


class Wrong(NamedTuple):
    """An element that breaks a rule."""

    rule: str
    selector: str
    html: str
    message: str


def wrong(page: Page, exempt: Sequence[Exempt] = ()) -> list[Wrong]:
    """Run axe-core on a page as it is drawn; Playwright runs it next to the page's own scripts, whatever its policy."""
    options = {"runOnly": {"type": "tag", "values": _TAGS}, "resultTypes": ["violations"]}
    found = Axe().run(page, options=options).response["violations"]
    every = (_wrong(rule, node) for rule in found for node in rule["nodes"])
    return [violation for violation in every if not _is_exempt(page, violation, exempt)]


def _wrong(rule: Mapping[str, str], node: Mapping[str, list[str]]) -> Wrong:
    return Wrong(rule["id"], node["target"][-1], str(node["html"]), str(node["failureSummary"]))


def _is_exempt(page: Page, found: Wrong, exempt: Sequence[Exempt]) -> bool:
    selectors = ", ".join(exemption.selector for exemption in exempt if exemption.rule == found.rule)
    return bool(selectors) and page.locator(found.selector).first.evaluate(
        "(element, selectors) => element.closest(selectors) !== null", selectors
    )
