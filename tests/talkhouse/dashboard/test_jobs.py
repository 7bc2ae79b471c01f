"""Thirteen jobs that people come with: each takes at most four clicks from Home, and no address is written by hand."""

import re
import shlex
from collections.abc import Callable, Iterator
from math import cos, sin
from pathlib import Path
from urllib.parse import parse_qs, quote_plus, urlsplit

import polars as pl
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import talkhouse
from talkhouse.search.turn_vectors import make_from_file
from tests.browser import Visit, served, visit
from tests.commands import run
from tests.samples import GROUPS, RELEASES
from tests.talkhouse.dashboard.conftest import Compared

MOST = 4
"""Clicks of a job."""

JAPANESE = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")


class Reader:
    """Somebody at the pages, who sees texts, and whose clicks are counted."""

    def __init__(self, visited: Visit) -> None:
        self._visited = visited
        self.clicks = 0

    @property
    def page(self) -> Page:
        """The tab that is read."""
        return self._visited.page

    @property
    def main(self) -> Locator:
        """The page without its navigation."""
        return self.page.get_by_role("main")

    def click(self, what: Locator) -> None:
        """Click on something that makes the page anew, or leads to another."""
        self._count()
        if what.first.get_attribute("target") == "_blank":
            with self._visited.context.expect_page() as tab:
                what.first.click()
            self._visited.page = tab.value
            self._visited.drawn()
        else:
            self._visited.act(what.first.click)
        assert not self._visited.errors()

    def see(self, action: Callable[[], object]) -> None:
        """Do something without a click that makes the page anew."""
        self._visited.act(action)
        assert not self._visited.errors()

    def press(self, button: Locator) -> None:
        """Press a button in a box that has just opened."""
        self._count()
        self._visited.press(button)
        assert not self._visited.errors()

    def open(self, what: Locator) -> None:
        """Click on something that shows what is behind it."""
        self._count()
        what.first.click()

    def go(self, page: str) -> None:
        """Go to a page by the navigation."""
        self.click(self.page.get_by_test_id("stSidebarNavLink").filter(has_text=re.compile(f"{page}$")))

    def choose(self, box: str, option: re.Pattern[str]) -> None:
        """Choose in a box."""
        self.open(self.main.get_by_role("combobox", name=box))
        self.click(self.page.get_by_role("option", name=option))

    def card(self, corpus: str) -> Locator:
        """Find the card of a corpus."""
        title = self.page.locator(f'h3 a[href="{corpus}"]')
        return self.main.get_by_test_id("stVerticalBlock").filter(has=title).last

    @property
    def first_conversation(self) -> Locator:
        """The link of the first conversation of the list."""
        return self.main.locator('a[href*="dialogue="]')

    def _count(self) -> None:
        self.clicks += 1
        assert self.clicks <= MOST


@pytest.fixture(
    scope="module",
    params=[pytest.param("samples", marks=pytest.mark.slow), pytest.param("published", marks=pytest.mark.long)],
)
def at_pages(
    request: pytest.FixtureRequest, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Visit]:
    """A window at the pages of the samples, and one at those of the publishers' files."""
    if request.param == "samples":
        yield request.getfixturevalue("window")
        return
    published, folder = request.getfixturevalue("real_warehouse"), tmp_path_factory.mktemp("served")
    with served(published, folder) as started, visit(browser, started.url, accept_downloads=True) as window:
        yield window


@pytest.fixture
def reader(at_pages: Visit) -> Iterator[Reader]:
    at_pages.reach()
    yield Reader(at_pages)
    assert at_pages.leave() == []


def test_find_a_dialogue_where_annotators_disagree(reader: Reader) -> None:
    reader.go("Read")
    reader.choose("Sort by", re.compile("disagreement", re.IGNORECASE))
    reader.click(reader.first_conversation)
    shown = reader.main.locator(".turn .counts")
    shown.first.wait_for()
    counts = shown.all_inner_texts()
    votes = [[int(number) for number in re.findall(r" (\d+)", count)] for count in counts]
    assert any(len(labels) > 1 and 2 * max(labels) <= sum(labels) for labels in votes), counts


def test_read_a_dialogue(reader: Reader) -> None:
    reader.go("Read")
    reader.click(reader.first_conversation)
    assert len([text for text in reader.main.locator(".turn .text").all_inner_texts() if text.strip()]) > 1


def test_filter_share_and_download(at_pages: Visit, reader: Reader) -> None:
    reader.click(reader.card(RELEASES).get_by_role("link", name="Read its dialogues"))
    shared = reader.page.url
    reader.open(reader.main.get_by_text("Download", exact=True))
    reader.press(reader.main.get_by_role("button", name="Make the file"))
    with reader.page.expect_download() as download:
        reader.open(reader.main.get_by_role("button", name=re.compile("^Download ")))
    assert RELEASES.encode() in download.value.path().read_bytes()
    reader.page.goto(shared)  # to the server somebody else
    at_pages.drawn()
    listed = reader.first_conversation.evaluate_all("all => all.map(one => one.href)")
    assert listed
    assert all(f"dialogue={RELEASES}" in address for address in listed)


def test_count_the_examples_of_each_split_of_a_task(reader: Reader) -> None:
    reader.click(reader.card(RELEASES).locator("h3 a"))
    reader.open(reader.main.get_by_role("tab", name="Tasks and splits"))
    expect(reader.main.get_by_role("heading", name="breakdown_detection")).to_be_visible()
    expect(reader.main.get_by_role("row", name=re.compile(r"\bdev [\d,]+ ")).first).to_be_visible()


def test_find_the_licence_of_a_corpus(reader: Reader) -> None:
    assert "Apache-2.0" in reader.card(GROUPS).inner_text()
    reader.click(reader.card(GROUPS).locator("h3 a"))
    reader.open(reader.main.get_by_role("tab", name="Licence and citation"))
    expect(reader.main.get_by_role("tabpanel").get_by_text("Apache-2.0").first).to_be_visible()


def test_see_how_long_dialogues_are(reader: Reader) -> None:
    reader.go("Overview")
    title = reader.page.get_by_role("heading", name=re.compile("^Dialogues by number of turns"))
    numbers = reader.page.get_by_role("button", name="Numbers", exact=True)
    expect(title).to_be_visible()
    block = reader.main.get_by_test_id("stVerticalBlock").filter(has=title).filter(has=numbers).last
    reader.open(block.get_by_role("button", name="Numbers", exact=True))
    expect(reader.page.get_by_role("columnheader", name=re.compile("Number of turns")).first).to_be_visible()


def test_hand_the_data_on_as_a_site(browser: Browser, reader: Reader, tmp_path: Path) -> None:
    reader.go("About")
    command = shlex.split(reader.main.get_by_test_id("stCode").filter(has_text="--site").inner_text())
    done = run(*command[1:], "--dialogues", "1", "--accept-terms", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with browser.new_context(offline=True) as context:
        tab = context.new_page()
        tab.goto((tmp_path / "site" / "index.html").as_uri())
        expect(tab.get_by_role("heading", name="Read and search")).to_be_visible()


def test_run_a_query(reader: Reader) -> None:
    reader.go("SQL")
    reader.main.get_by_role("textbox", name="Query").fill("select corpus_id, title from main.corpora order by all")
    reader.click(reader.main.get_by_role("button", name="Run", exact=True))
    expect(reader.main.get_by_text(re.compile(r"^\d rows\.$"))).to_be_visible()
    expect(reader.main.get_by_test_id("stDataFrame")).to_be_visible()


def test_read_a_japanese_dialogue(reader: Reader) -> None:
    reader.go("Read")
    reader.click(reader.main.get_by_test_id("stCheckbox").filter(has_text=re.compile(r"^ja \(")).locator("label"))
    reader.click(reader.first_conversation)
    assert JAPANESE.search("".join(reader.main.locator(".turn .text").all_inner_texts()))


def test_see_who_changed_their_mind_to_what_after_which_message(reader: Reader) -> None:
    reader.go("DeliData")
    reader.click(reader.main.get_by_role("tabpanel").locator('a[href*="dialogue="]').first)
    changes = reader.main.get_by_role("list", name="Changes in the order of turns").get_by_role("listitem")
    expect(changes.filter(has_text="after").first).to_be_visible()
    expect(changes.get_by_role("img", name="becomes").first).to_be_visible()


def test_find_what_is_said_about_something_in_all_corpora_and_what_is_like_it(reader: Reader) -> None:
    reader.go("Search")
    if (making := reader.main.get_by_role("button", name="Make the index")).count():
        reader.press(making)
        expect(making).to_have_count(0)
    box = reader.main.get_by_role("textbox", name="Search for words")
    box.fill("the museum")
    reader.see(lambda: box.press("Enter"))
    reader.main.locator("mark.match").first.wait_for()
    marked = reader.main.locator("mark.match").all_inner_texts()
    assert {word.lower() for word in marked} == {"the", "museum"}
    assert "text=the+museum" in reader.page.url
    reader.click(reader.first_conversation)
    here = reader.main.locator(".turn.here")
    expect(here).to_contain_text("museum")
    reader.click(here.locator("a.like"))  # from any turn that is read
    expect(reader.main.locator(".found").first).to_contain_text("Texts with the most characteristic words of")
    reader.main.locator("mark.match").first.wait_for()
    assert "museum" not in "".join(reader.main.locator("mark.match").all_inner_texts())  # the turn itself is left out


@pytest.mark.slow
def test_find_what_is_like_a_turn_by_meaning(at_runs: Visit, two_runs: Compared, tmp_path: Path) -> None:
    # Turns at the corners of a map of our own: each is nearest to the one that is said before it.
    with talkhouse.open(two_runs.warehouse) as con:
        keys = con.execute("select dialogue_id, turn_index from main.turns order by all").fetchall()
    angles = [place / len(keys) for place in range(len(keys))]
    pl.DataFrame(
        {
            "dialogue_id": [dialogue for dialogue, _ in keys],
            "turn_index": [turn for _, turn in keys],
            "vector": [[cos(angle), sin(angle)] for angle in angles],
            "x": angles,
            "y": [0.5] * len(keys),
        }
    ).write_parquet(tmp_path / "v.parquet")
    at_runs.open()
    reader = Reader(at_runs)
    reader.go("Search")
    expect(reader.main.get_by_text("talkhouse vectors FILE")).to_be_visible()
    make_from_file(two_runs.warehouse, tmp_path / "v.parquet")
    reader.clicks = 0
    at_runs.reach()
    reader.go("Read")
    reader.click(reader.first_conversation)
    reader.click(reader.main.locator("a.like").first)
    reader.click(reader.main.get_by_text("by meaning", exact=True))
    assert "by=meaning" in reader.page.url
    asked = parse_qs(urlsplit(reader.page.url).query)
    itself = (asked["like"][0], int(asked.get("turn", ["0"])[0]))
    place = keys.index(itself)
    near = {keys[other] for other in (place - 1, place + 1) if 0 <= other < len(keys)}
    links = reader.main.locator('.st-key-rows a[href*="dialogue="]')
    expect(links).to_have_count(20)
    first = {f"{dialogue} {turn}" for dialogue, turn in near}
    assert {links.nth(number).inner_text() for number in range(len(near))} == first
    drawing = reader.main.get_by_test_id("stVegaLiteChart").locator("canvas, svg").first
    expect(drawing).to_be_visible()
    expect(reader.main.get_by_text("at the places that the file of vectors gives them")).to_be_visible()
    reader.clicks = 0  # the answer was there; from the map one reads on
    box = drawing.bounding_box()
    assert box
    # The places lie in one line: the pointer is a hand above a point, and nowhere else.
    for down in range(4, int(box["height"]), 4):
        reader.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + down)
        if drawing.evaluate("element => getComputedStyle(element).cursor") == "pointer":
            break
    tooltip = reader.page.locator("#vg-tooltip-element.visible")
    shown = next(dialogue for dialogue, turn in keys if f"{dialogue} {turn}" in tooltip.inner_text())
    with reader.page.expect_navigation():
        reader.page.mouse.down()
        reader.page.mouse.up()
    at_runs.drawn()
    assert f"dialogue={quote_plus(shown)}" in reader.page.url
    expect(reader.main.locator(".turn.here")).to_have_count(1)


@pytest.mark.slow
def test_see_where_two_models_differ_and_why(at_runs: Visit, two_runs: Compared) -> None:
    differing = [key for key in two_runs.right if differ(two_runs, key)]
    at_runs.open()
    reader = Reader(at_runs)
    reader.go("Errors")
    expect(reader.main.get_by_text(f"They differ on {len(differing)}.")).to_be_visible()
    # Of these two runs, whichever are saved later.
    reader.page.wait_for_url(re.compile("run=careful&beside="))
    reader.open(reader.main.get_by_role("tab", name="Subset"))
    table = reader.main.get_by_role("region", name="Examples by Subset")
    subset = table.get_by_role("row").nth(1).get_by_role("cell").nth(1).inner_text()
    reader.click(table.get_by_role("link").first)
    listed = reader.main.locator(".errors .answers")
    of_subset = [key for key in differing if f"/{subset}/" in key[0]]
    expect(listed).to_have_count(len(of_subset))
    for answers in listed.all_inner_texts():
        assert answers.count("gold:") == 1
        assert len(re.findall(r"is (?:right|wrong) \(sure: 0\.\d+\): [OTX]", answers)) == 2
    assert reader.main.locator(".errors .turn.around").count() > 0
    shared = reader.page.url
    reader.click(reader.main.locator('.errors a[href*="dialogue="]'))
    assert reader.main.locator(".turn.here").count() == 1
    reader.page.goto(shared)  # to the server somebody else
    expect(listed).to_have_count(len(of_subset))


def differ(two_runs: Compared, key: tuple[str, int]) -> bool:
    first, second = two_runs.labels
    return first[key][0] != second[key][0]
