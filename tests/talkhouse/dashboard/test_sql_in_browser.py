"""The SQL page in a browser: names are completed as one types, and the query runs."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser import Visit

pytestmark = pytest.mark.slow


def query(visited: Visit) -> Locator:
    """Return the text area; its script comes after it."""
    area = visited.page.get_by_role("textbox", name="Query", exact=True)
    expect(area).to_be_editable()
    return area


def options(visited: Visit) -> Locator:
    return visited.page.get_by_role("option")


def test_views_and_the_columns_of_those_in_the_query_are_completed_and_the_query_runs(visited: Visit) -> None:
    visited.open("/sql")
    area = query(visited)
    area.fill("select  from ")
    area.press_sequentially("main.corpor")
    expect(options(visited).first).to_have_text("corpora")
    area.press("Enter")
    expect(area).to_have_value("select  from main.corpora")
    area.press("Home")
    for _ in "select ":
        area.press("ArrowRight")
    area.press_sequentially("licen")
    expect(options(visited)).to_have_text(["licence varchar", "licence_url varchar"])
    area.press("ArrowDown")
    expect(options(visited).nth(1)).to_have_attribute("aria-selected", "true")
    assert area.get_attribute("aria-activedescendant") == options(visited).nth(1).get_attribute("id")
    area.press("Tab")
    expect(area).to_have_value("select licence_url from main.corpora")
    expect(options(visited)).to_have_count(0)
    area.press("Control+Enter")
    expect(visited.page.get_by_test_id("stDataFrame")).to_be_visible()
    visited.page.wait_for_url("**/sql?query=select+licence_url+from+main.corpora")


def test_what_is_typed_is_kept_and_what_the_page_puts_there_takes_its_place(visited: Visit) -> None:
    visited.open("/sql?query=select+1+as+one")
    area = query(visited)
    expect(area).to_have_value("select 1 as one")
    area.fill("select 2 as two")
    visited.page.get_by_role("button", name="Run").click()
    expect(visited.page.get_by_test_id("stDataFrame")).to_be_visible()
    expect(area).to_have_value("select 2 as two")
    assert visited.page.url.endswith("?query=select+2+as+two")
    visited.page.get_by_role("button", name="Put into the query").click()
    expect(area).to_have_value('select *\nfrom "bi"."annotations"\nlimit 100')
    area.fill("select 2 as two")
    visited.act(lambda: area.press("Tab"))
    visited.page.get_by_role("button", name="Put into the query").click()
    expect(area).to_have_value('select *\nfrom "bi"."annotations"\nlimit 100')


def test_strings_and_keywords_are_not_completed_and_escape_closes_the_list(visited: Visit) -> None:
    visited.open("/sql")
    area = query(visited)
    area.press_sequentially("select t.title from main.corpora t where")
    expect(options(visited)).to_have_count(0)
    area.press_sequentially(" 'tit")
    expect(options(visited)).to_have_count(0)
    area.press_sequentially("' < t.tit")
    expect(options(visited)).to_have_text(["title varchar"])
    area.press("Escape")
    expect(options(visited)).to_have_count(0)
    area.press("Enter")
    expect(area).to_have_value("select t.title from main.corpora t where 'tit' < t.tit\n")
