"""What axe-core finds wrong on a page that is open in a browser, by the criteria of WCAG 2.2 AA."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

DESK, _PHONE = 1400, 390
"""Widths of windows, in pixels."""

LOOKS = [
    pytest.param("light", DESK, marks=pytest.mark.slow),
    pytest.param("dark", _PHONE, marks=pytest.mark.slow),
    # What a theme changes is the same at both widths, and what a width changes in both themes.
    pytest.param("light", _PHONE, marks=pytest.mark.long),
    pytest.param("dark", DESK, marks=pytest.mark.long),
]
"""Theme and width of a page."""

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
    """Run axe-core on a page as it is drawn; Playwright runs it beside the page's own scripts, whatever its policy."""
    options = {"runOnly": {"type": "tag", "values": _TAGS}, "resultTypes": ["violations"]}
    found = Axe().run(page, options=options).response["violations"]
    return [one for rule in found for node in rule["nodes"] if not _is_exempt(page, one := _wrong(rule, node), exempt)]


def _wrong(rule: Mapping[str, str], node: Mapping[str, list[str]]) -> Wrong:
    return Wrong(rule["id"], node["target"][-1], str(node["html"]), str(node["failureSummary"]))


def _is_exempt(page: Page, found: Wrong, exempt: Sequence[Exempt]) -> bool:
    selectors = ", ".join(one.selector for one in exempt if one.rule == found.rule)
    return bool(selectors) and page.locator(found.selector).first.evaluate(
        "(element, selectors) => element.closest(selectors) !== null", selectors
    )
