"""The pages in a real browser, from a server of their own: what no test inside Python sees."""

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from talkhouse.build.progress import Silent
from talkhouse.build.run import build
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.schema import warehouse
from talkhouse.visible import visible
from tests.browser import MINUTE, Visit, served, visit

pytestmark = pytest.mark.slow

ACTING = [
    """<img id="acted" src="http://outside.example/a.png" onerror="window.acted = 1">""",
    """<script id="acted">window.acted = 1</script><b id="acted">bold</b>""",
    """![a](http://outside.example/b.png) [b](javascript:window.acted=1) [c](http://outside.example) **d** # e""",
    """$\\frac{1}{2}$ :material/bolt: :red[red] :smile: `code` <style>body { display: none }</style>""",
    "\u05e9\u05dc\u05d5\u05dd \u202e\u0645\u0631\u062d\u0628\u0627\u202c \u65e5\u672c\u8a9e",
    "\U0001f469\u200d\U0001f680 a\0b",
]
"""Texts that mean something to HTML, Markdown or Streamlit, and texts of other scripts."""

ACTED = '#acted, a[href^="javascript"], img[src*="outside"], .katex'

_TEXTS = {
    "turns": ["text"],
    "texts": ["text"],
    "personas": ["text"],
    "dialogues": ["title", "domain"],
    "speakers": ["name"],
    "labels": ["meaning"],
    "meta.findings": ["detail", "pointer"],
}


def test_a_choice_is_in_the_address(browser: Browser, visited: Visit) -> None:
    visited.open("dbdc3")
    whole = numbers(visited)
    visited.page.get_by_role("combobox", name="Release").click()
    visited.act(visited.page.get_by_role("option", name="dev_zips").click)
    # The page also runs by itself, to look for a new build: that may be what has ended.
    changed = visited.page.locator('[data-testid="stMetricValue"]').first.filter(
        has_not_text=re.compile(f"^{whole[0]}$")
    )
    changed.wait_for(timeout=2 * MINUTE)
    visited.drawn(0)
    chosen = numbers(visited)
    with visit(browser, visited.address) as another:
        another.page.goto(visited.page.url)
        another.drawn(0)
        assert numbers(another) == chosen
        assert another.page.url == visited.page.url
        assert another.wrong == []


def numbers(visited: Visit) -> list[str]:
    return visited.page.locator('[data-testid="stMetricValue"]').all_inner_texts()


def test_every_page_is_drawn_asks_nothing_of_the_network_and_no_text_acts_on_it(
    browser: Browser, sample: Path, tmp_path: Path
) -> None:
    path = tmp_path / "acting.duckdb"
    shutil.copyfile(sample, path)
    with warehouse.create(path) as con:
        for table, columns in _TEXTS.items():
            for column in columns:
                text = f"list_extract(?::varchar[], 1 + (rowid % {len(ACTING)})::integer)"
                con.execute(f"update {table} set {column} = {column} || {text}", [ACTING])
    with served(path, tmp_path) as pages, visit(browser, pages.url) as visited:
        visited.open()
        links = visited.links()
        assert len(links) >= 2 + len(corpora())
        for link in links:
            visited.follow(link)
            assert not visited.errors(), link
            assert visited.page.evaluate("window.acted") is None, link
            assert visited.page.locator(f'[data-testid="stMain"] :is({ACTED})').count() == 0, link
            assert "outside.example" not in visited.page.evaluate("[...document.links].map(link => link.hostname)")
        visited.open("mantis")
        visited.page.get_by_role("combobox", name="Site").click()
        options = "\n".join(visited.page.get_by_role("option").all_inner_texts())
        assert all(visible(text) in options for text in ACTING)
        assert visited.wrong == []
        assert pages.connections() == []


def test_a_new_build_appears_on_an_open_page_and_ctrl_c_ends_it_without_a_trace(
    browser: Browser, sample: Path, tmp_path: Path
) -> None:
    path, data = tmp_path / "w.duckdb", tmp_path / "data"
    shutil.copyfile(sample, path)
    with served(path, tmp_path) as pages, visit(browser, pages.url) as visited:
        visited.open()
        before = numbers(visited)
        shutil.copytree(sample_of(corpora()["delidata"]), data / "delidata")
        build(path, Silent(), data=data)
        shown = visited.page.locator('[data-testid="stMetricValue"]').first
        shown.filter(has_not_text=re.compile(f"^{before[0]}$")).wait_for()
        assert not visited.errors()
        path.rename(tmp_path / "kept.duckdb")
        visited.page.get_by_text("there is no warehouse here").wait_for()
        shutil.copyfile(tmp_path / "kept.duckdb", path)
        shown.wait_for()
        assert visited.wrong == []
        code, output = pages.stop()
    assert "Traceback" not in output
    assert code in (0, 130)
