"""The report by the criteria of WCAG 2.2 AA, as far as axe-core can tell, at both widths and in both themes."""

from pathlib import Path

import pytest

from tests.accessibility import THEMES, WIDTHS, Wrong, wrong
from tests.browser import launched

pytestmark = pytest.mark.slow


def test_axe_finds_nothing_wrong(report: Path) -> None:
    found: dict[tuple[str, int], list[Wrong]] = {}
    with launched() as browser:
        for theme in THEMES:
            with browser.new_context(color_scheme=theme) as context:
                opened = context.new_page()
                opened.goto(report.as_uri())
                for width in WIDTHS:
                    opened.set_viewport_size({"width": width, "height": 1000})
                    if breaking := wrong(opened):
                        found[theme, width] = breaking
    assert found == {}
