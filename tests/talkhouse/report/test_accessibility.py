"""The report by the criteria of WCAG 2.2 AA, as far as axe-core can tell, at both widths and in both themes."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.accessibility import LOOKS, Look, show, wrong


@pytest.mark.parametrize("looks", LOOKS)
def test_axe_finds_nothing_wrong(browser: Browser, report: Path, looks: Sequence[Look]) -> None:
    with browser.new_context() as context:
        opened = context.new_page()
        opened.goto(report.as_uri())
        for look in looks:
            show(opened, look)
            assert wrong(opened) == [], look
