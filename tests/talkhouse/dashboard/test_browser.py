"""The pages in a real browser, from a server of their own: what no test inside Python sees."""

import re
import shutil
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import duckdb
import pytest
from playwright.sync_api import Browser, Locator, expect

from talkhouse.dashboard import bookmarks, links
from talkhouse.escaping import visible
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.load.run import build
from talkhouse.notes import notes_file
from talkhouse.notes.notes_file import NewNote
from talkhouse.overlap.compute import overlap
from talkhouse.overlap.request import OverlapRequest
from tests.browser import MINUTE, Served, Visit, served, visit
from tests.data_files import data_of
from tests.hostile import CORPUS, TEXTS, make_hostile
from tests.samples import POSTS, RELEASES

pytestmark = pytest.mark.slow

ACTED = '#acted, a[href^="javascript"], img[src*="outside"], .katex'
"""Elements that only a text of the warehouse can have made."""

_LED = """[...document.links].filter(link => link.hostname === 'outside.example' && !link.pathname.startsWith('/home'))
    .map(link => link.outerHTML)"""
"""Links that lead out; that to the home page of a corpus may."""

_OWN = data_of(__file__)["own"]
"""Returns the texts in which a word has lost the sign before it: that sign was taken for Markdown."""


def test_a_choice_is_in_the_address(visited: Visit) -> None:
    visited.reach("dbdc3")
    whole = numbers(visited)
    visited.page.get_by_role("combobox", name="Release").click()
    visited.act(visited.page.get_by_role("option", name="dev_zips").click)
    # The page also runs by itself, to look for a new build: that may be what has ended.
    changed = visited.page.locator('[data-testid="stMetricValue"]').first.filter(
        has_not_text=re.compile(f"^{whole[0]}$")
    )
    changed.wait_for(timeout=2 * MINUTE)
    visited.drawn()
    chosen = numbers(visited)
    address = visited.page.url
    visited.page.reload()  # to the server somebody else
    visited.drawn()
    assert (numbers(visited), visited.page.url) == (chosen, address)


def test_what_is_open_is_handed_on_as_a_link_and_each_chart_as_files(browser: Browser, visited: Visit) -> None:
    visited.reach(f"{RELEASES}?split=eval")
    before = visited.page.content()
    visited.press(visited.page.get_by_role("button", name="Copy link"))
    copied = visited.page.locator("[data-testid=stPopoverBody] [data-testid=stCode]")
    expect(copied).to_have_count(2)
    plain, whole = copied.all_inner_texts()
    assert plain == visited.page.url
    token = whole.removeprefix(f"{plain}&token=")
    assert token
    assert token == visited.address.partition("token=")[2]
    assert token not in before
    visited.page.keyboard.press("Escape")
    with visit(browser, visited.url) as another:
        another.page.goto(plain)
        assert "if it has the token itself: Copy link" in " ".join(another.page.inner_text("body").split())
        another.wrong.clear()  # that it was refused
        another.page.goto(whole)
        another.page.wait_for_url(plain)
        another.drawn()
        assert numbers(another) == numbers(visited)
        assert another.wrong == []
    visited.press(visited.page.get_by_role("button", name="Save", exact=True).first)
    for name, begin in (("PNG", b"\x89PNG"), ("SVG", b"<svg"), ("CSV", b"bot,")):
        with visited.page.expect_download() as download:
            visited.page.get_by_role("button", name=name, exact=True).click()
        assert download.value.path().read_bytes().startswith(begin)
        assert download.value.suggested_filename == f"Breakdown_rate_by_bot_in_each_publisher_s_release.{name.lower()}"
    assert visited.errors() == []


def numbers(visited: Visit) -> list[str]:
    return visited.page.locator('[data-testid="stMetricValue"]').all_inner_texts()


def test_every_page_is_drawn_asks_nothing_of_the_network_and_no_text_acts_on_it(
    browser: Browser, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "hostile.duckdb"
    make_hostile(path, sample)
    monkeypatch.setenv("TALKHOUSE_BOOKMARKS", str(tmp_path / "marks.toml"))
    for text in TEXTS:
        bookmarks.add(text, "read", text, {"text": [text]})
    with duckdb.connect(tmp_path / "scores.duckdb") as con:
        con.execute('create table "it\'s :red[zred]" as select unnest($texts) as "*"', {"texts": TEXTS})
    with duckdb.connect(path) as con:
        ((dialogue, record, rule),) = con.execute(
            "select (select max(dialogue_id) from main.records where contains(dialogue_id, 'zred')), "
            "(select max(record_id) from main.records where contains(record_id, 'zred')), "
            "(select max(rule) from meta.findings)"
        ).fetchall()
        (places,) = con.execute("select list(distinct corpus_id) from main.records where split is not null").fetchone()
    overlap(path, OverlapRequest(places[:1]))
    notes_file.add(path, [NewNote(dialogue, None, "0" * 64, text, text, text, "page") for text in TEXTS])
    with served(path, tmp_path) as pages, visit(browser, pages.url) as visited:

        def check(place: str) -> None:
            # The file of saved runs is none, which Errors says.
            assert bool(visited.errors()) == (place == "/errors"), place
            assert visited.page.evaluate("window.acted") is None, place
            assert visited.page.locator(ACTED).count() == 0, place
            assert visited.page.evaluate(_OWN) == [], place
            assert visited.page.evaluate(_LED) == [], place
            assert "\N{SMILING FACE WITH OPEN MOUTH AND SMILING EYES}" not in visited.page.inner_text("body"), place

        visited.open()
        addresses = visited.links()
        assert len(addresses) >= 3 + len(corpora())
        for link in addresses:
            visited.follow(link)
            check(link)
        parts = ("Datasheet", "Licence and citation", "Tasks and splits", "Overlap", "Findings")
        more = [f"{name}?{urlencode({'show': part})}" for name in (RELEASES, CORPUS) for part in parts]
        more += [links.read(dialogue), links.read(record_id=record), links.quality(rule), "read?text=slot"]
        more += ["read?filters=1", links.sql('select 1 as "*", 2 as "^.*$", 3 as "a.b", \'$zmath$\' as ":red[zred]"')]
        more += [f"sql?{urlencode({'view': f'bi.{CORPUS}_cups'})}", f"read?{urlencode({'source': record})}"]
        for address in more:
            visited.turn_to(address)
            check(address)
        visited.turn_to(CORPUS)
        for name in ("Numbers", "Receipt"):
            for button in visited.page.get_by_role("button", name=name).all()[:3]:
                visited.press(button)
                check(name)
                visited.page.keyboard.press("Escape")
        visited.turn_to(POSTS)
        visited.page.get_by_role("combobox", name="Site").press("ArrowDown")  # which no layout that moves can miss
        options = visited.page.get_by_role("option")
        options.nth(len(TEXTS) - 1).wait_for()
        assert all(visible(text) in "\n".join(options.all_inner_texts()) for text in TEXTS)
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


# Read in a browser: it arrives at the turn that an address names, and keys walk through the list.

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
    visited.reach("read?text=MUSEUM")
    hit = visited.page.locator(".found .hit a").last
    number = hit.inner_text()
    hit.click()
    assert arrived(visited) == f"turn-{number}"
    assert visited.page.locator(".turn.here mark").inner_text().lower() == "museum"


def test_keys_walk_through_the_list_and_back(visited: Visit) -> None:
    visited.reach(f"read?corpus={RELEASES}&sort=disagreement")
    visited.act(lambda: visited.page.locator(".st-key-rows a").first.click())
    first, turn = parameters(visited), arrived(visited)
    assert first["turn"] == [turn.removeprefix("turn-")]
    visited.act(lambda: visited.page.keyboard.press("ArrowRight"))
    assert parameters(visited)["dialogue"] != first["dialogue"]
    arrived(visited)
    visited.act(lambda: visited.page.keyboard.press("ArrowLeft"))
    assert parameters(visited) == first


def test_a_facet_is_a_check_box_that_the_address_keeps(visited: Visit) -> None:
    visited.reach(f"read?corpus={RELEASES}")
    box = visited.page.get_by_role("checkbox", name="eval")
    assert visited.page.get_by_role("checkbox", name=f"{RELEASES} (").first.is_checked()
    visited.act(lambda: visited.page.locator(".st-key-facets .stCheckbox", has=box).click())
    # The page also runs by itself, to look for a new build: that may be what has ended.
    expect(box).to_be_checked()
    visited.page.wait_for_url("**split=eval")
    assert parameters(visited) == {"corpus": [RELEASES], "split": ["eval"]}


# The SQL page in a browser: names are completed as one types, and the query runs.


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
