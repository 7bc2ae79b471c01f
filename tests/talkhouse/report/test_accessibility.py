"""The report by the criteria of WCAG 2.2 AA, as far as axe-core can tell, at both widths and in both themes."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.accessibility import LOOKS, wrong


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_axe_finds_nothing_wrong(browser: Browser, report: Path, theme: str, width: int) -> None:
    with browser.new_context(color_scheme=theme, viewport={"width": width, "height": 1000}) as context:
        opened = context.new_page()
        opened.goto(report.as_uri())
        assert wrong(opened) == []
