"""The site: the report on several pages with dialogues to read and to search, without a server and a network."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote

import duckdb
import pytest
from playwright.sync_api import Browser, expect

import talkhouse
from talkhouse.escaping import visible
from talkhouse.report.dialogue_examples import SiteDialogues, dialogue_path, file_name
from talkhouse.report.write_site import RECORD, write_site
from talkhouse.schema.errors import TermsNotAccepted, UsageError
from talkhouse.system.atomic_output import replaced_folder
from talkhouse.warehouse.opened import Warehouse
from tests.accessibility import LOOKS, Look, looks_of, show, wrong
from tests.commands import run
from tests.corpora.unusual import files_in
from tests.talkhouse.report.page import Page
from tests.talkhouse.report.test_policy import CUT, INJECTED

MOST = 3
"""Dialogues of each split, so that not all are there."""

ODD = "</script><script>acted = 1</script><!-- <img src=x onerror='acted = 1'> \u2028 \u202e \x00 {{ 7 * 7 }} \" &"

AGAIN = """
import sys, talkhouse
from pathlib import Path
from talkhouse.report.write_site import write_site
with talkhouse.open(sys.argv[1]) as con:
    con.execute("set threads = 1")
    write_site(con, Path(sys.argv[2]), most=int(sys.argv[3]), is_accepted=True)
"""


def test_dialogues_are_chosen_by_their_hashes_and_no_name_leads_elsewhere(con: duckdb.DuckDBPyConnection) -> None:
    published = con.execute("select distinct corpus_id, release, split, dialogue_id from bi.publications").fetchall()
    examples = con.execute(
        "select distinct corpus_id, task, release, split, dialogue_id from main.examples where dialogue_id is not null"
    ).fetchall()
    every: dict[tuple[str | None, ...], list[str]] = {}
    for *key, dialogue_id in [(corpus, None, *rest) for corpus, *rest in published] + examples:
        every.setdefault(tuple(key), []).append(dialogue_id)
    also = max(dialogue_id for *_, dialogue_id in published)
    chosen = SiteDialogues(Warehouse(con), 1, [also])
    found = {(split.corpus_id, *split.key): split for split in chosen.splits if split.dialogue_count}
    assert found.keys() == every.keys()
    for key, ids in every.items():
        assert found[key].shown == [min(ids, key=lambda item: sha256(item.encode()).hexdigest())]
        assert found[key].dialogue_count == len(ids)
    assert also in [dialogue_id for ids in chosen.of_corpus.values() for dialogue_id in ids]
    pages = [split.path for split in chosen.splits]
    assert len({path.lower() for path in pages}) == len(pages)
    odd = ["", "..", "../up", "a/b", "A", "a.b", ".hidden", "a\\b", "c:", "\u202e", "a" * 100, ODD]
    assert len({file_name(name).lower() for name in [*odd, "a"]}) == len(odd) + 1
    for name in (*map(file_name, odd), *dialogue_path("../up", ODD).split("/")):
        assert re.fullmatch(r"[a-z0-9_-]+(\.html)?", name)


@pytest.fixture(scope="session")
def site(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of the sample with rows of every kind, in a folder with a blank and an umlaut."""
    folder = tmp_path_factory.mktemp("site") / "Unsere Gespräche"
    done = run("report", "--site", folder, "--dialogues", str(MOST), "--accept-terms", "--db", filled)
    assert done.returncode == 0, done.stderr
    written = sum(1 for path in folder.rglob("*.html"))
    assert re.match(rf"Wrote a site on \d+ corpora: {written} pages with \d+ of \d+ dialogues", done.stdout)
    assert f"open {folder / 'index.html'}" in done.stdout
    assert "licence of dbdc3, invented sample: MIT" in done.stdout
    return folder


@pytest.mark.slow
def test_every_page_is_whole_and_leads_only_to_pages_that_are_there(site: Path, con: duckdb.DuckDBPyConnection) -> None:
    pages = {path: Page(path) for path in site.rglob("*.html")}
    for path, page in pages.items():
        names = page.attributes("section", "id") + page.attributes("li", "id")
        assert len(set(names)) == len(names)
        assert not {"link", "img", "iframe", "object", "embed", "base", "form"} & {tag for tag, _ in page.elements}
        assert not [
            name for _, found in page.elements for name in found if name in ("src", "style") or name[:2] == "on"
        ]
        (policy,) = (
            found["content"] for tag, found in page.elements if found.get("http-equiv") == "Content-Security-Policy"
        )
        allowed = r"'sha256-[^' ]+'"
        script = allowed if path.name == "search.html" else "'none'"
        shape = rf"default-src 'none'; style-src {allowed}; script-src {script}; base-uri 'none'; form-action 'none'"
        assert re.fullmatch(shape, policy)
        for link in page.attributes("a", "href"):
            if not link.startswith(("https://", "http://")):
                to, _, anchor = unquote(link).partition("#")
                there = (path.parent / to).resolve() if to else path
                assert there in pages, f"{path}: {link}"
                ids = {found["id"] for _, found in pages[there].elements if "id" in found}
                assert not anchor or anchor in ids or anchor.startswith("in="), f"{path}: {link}"
    for corpus_id, count in con.execute("select corpus_id, count(*) from main.dialogues group by all").fetchall():
        shown = len(list((site / corpus_id / "dialogues").iterdir()))
        text = " ".join(pages[site / corpus_id / "index.html"].texts["p"])
        assert f"{shown} of {count} dialogues are here to read" in text
        assert f"up to {MOST} dialogues are on this site: those whose ids have the lowest SHA-256" in text
    said_in = con.execute(
        "select corpus_id, dialogue_id, list(text order by turn_index) from main.turns join main.dialogues "
        "using (dialogue_id) group by all"
    ).fetchall()
    read = [(pages[path], texts) for *ids, texts in said_in if (path := site / dialogue_path(*ids)) in pages]
    assert len(read) == sum(1 for path in pages if path.parent.name == "dialogues")
    for page, texts in read:
        assert [name for name in page.attributes("li", "id") if name.startswith("turn-")] == [
            f"turn-{index}" for index in range(len(texts))
        ]
        assert {visible(text, lines=True).strip() for text in texts} <= {*page.texts["span"], ""}
        assert any("tool_call clock" in text for text in page.texts["p"])
        assert any(text.startswith("reply to 0") for text in page.texts["span"])
    assert any("reply to 0 (2 of 2)" in page.texts["span"] for page, _ in read)
    assert any("u" in page.texts for page, _ in read)
    split = pages[site / "dbdc3" / "tasks" / "breakdown_detection" / "dbdc3.eval.html"]
    assert "3 of 7 dialogues, those whose ids have the lowest SHA-256. Search these" in split.texts["p"]
    (labels,) = (
        con.execute("select count(*) from dbdc3.breakdown_detection_eval where release = 'dbdc3'").fetchone() or ()
    )
    assert sum(int(row[-1]) for row in split.tables["Gold labels of this split"][1:]) == labels


@pytest.mark.parametrize("looks", LOOKS)
def test_it_is_read_and_searched_without_a_network(browser: Browser, site: Path, looks: Sequence[Look]) -> None:
    outside, messages = list[str](), list[str]()
    with browser.new_context(offline=True) as context:
        context.on("request", lambda item: None if item.url.startswith("file:") else outside.append(item.url))
        tab = context.new_page()
        tab.on("console", lambda message: messages.append(message.text))
        tab.on("pageerror", lambda error: messages.append(str(error)))
        # Read: three clicks from the first page.
        tab.goto((site / "index.html").as_uri())
        tab.get_by_role("link", name="Dialogue Breakdown Detection Challenge 3", exact=True).click()
        tab.get_by_role("listitem").filter(has_text="26 examples").get_by_role("link", name="dbdc3 eval").click()
        first = tab.locator(".dialogues a").first
        dialogue_id = first.inner_text()
        first.click()
        expect(tab.get_by_role("heading", level=2)).to_have_text(dialogue_id)
        expect(tab.locator(".legend").first).to_contain_text("O ")
        # Search: all words, in any case, to the turn; the address has what is searched for.
        tab.get_by_role("link", name="Search its dialogues").click()
        tab.get_by_label("Words").fill("LIGHTHOUSE the")
        expect(tab.get_by_role("status")).to_contain_text("have all of these words")
        expect(tab.locator("#found mark").first).to_have_text(re.compile("lighthouse|the", re.IGNORECASE))
        assert tab.url.endswith("search.html#q=LIGHTHOUSE+the")
        tab.reload()
        expect(tab.get_by_label("Words")).to_have_value("LIGHTHOUSE the")
        turn = tab.locator("#found").get_by_role("link", name=re.compile("Turn"))
        place = turn.first.get_attribute("href") or ""
        turn.first.click()
        expect(tab.locator(f"#{place.partition('#')[2]}:target")).to_contain_text(
            re.compile("lighthouse", re.IGNORECASE)
        )
        tab.go_back()
        # Japanese, a part of a word; in one split alone; a text in quotation marks; what is not there.
        tab.get_by_label("Words").fill("今日")
        expect(tab.locator("#found mark").first).to_have_text("今日")
        tab.get_by_label("In", exact=True).select_option(label="dialogues dbdc3 dev")
        expect(tab.get_by_role("status")).to_contain_text(re.compile(rf"of {MOST} dialogues have this"))
        assert tab.url.endswith("&in=0")
        tab.get_by_label("In", exact=True).select_option(label="all dialogues")
        tab.get_by_label("Words").fill('"the lighthouse"')
        expect(tab.locator("#found mark").first).to_have_text("the lighthouse")
        tab.get_by_label("Words").fill("(.*[a-z]\\")
        expect(tab.get_by_role("status")).to_contain_text("0 of ")
        tab.get_by_label("Words").fill("the")
        visited = [tab.url]
        kinds = ("index", "quality", "licences", "dbdc3/index", "dbdc3/tasks/*/index", "dbdc3/tasks/*/*.eval")
        for kind in (*kinds, "*/dialogues/*"):
            found = sorted(site.glob(f"{kind}.html"))
            visited += [path.as_uri() for path in {path.relative_to(site).parts[0]: path for path in found}.values()]
        for number, address in enumerate(visited):
            tab.goto(address)
            for look in looks_of(number, looks):
                show(tab, look)
                assert wrong(tab) == [], (address, look)
                assert tab.evaluate(CUT) == [], (address, look)
                assert tab.evaluate("document.documentElement.scrollWidth") == look[1], address
    assert (outside, messages) == ([], [])


@pytest.mark.slow
def test_nothing_that_a_warehouse_says_acts_on_a_site(licensed: Path, browser: Browser, tmp_path: Path) -> None:
    copy = Path(shutil.copyfile(licensed, tmp_path / "odd.duckdb"))
    with duckdb.connect(copy) as con:
        odd = {"odd": ODD, "up": f"../../{ODD}"}
        con.execute("update main.turns set text = $odd || text", {"odd": ODD})
        con.execute("update main.corpora set title = $odd || title, licence_url = 'javascript:1'", {"odd": ODD})
        con.execute("update main.speakers set name = $odd", {"odd": ODD})
        con.execute("update main.labels set meaning = $odd", {"odd": ODD})
        con.execute("update main.examples set split = $up where corpus_id = 'dbdc3'", {"up": odd["up"]})
        con.execute("update main.records set split = $up where corpus_id = 'dbdc3'", {"up": odd["up"]})
    folder = tmp_path / "inside" / "site"
    folder.parent.mkdir()
    with talkhouse.open(copy) as opened:
        with pytest.raises(TermsNotAccepted, match="dbdc3 and mantis and mpchat are not accepted"):
            write_site(opened, folder, most=MOST, is_accepted=False)
        assert [*folder.parent.iterdir()] == []
        write_site(opened, folder, most=MOST, is_accepted=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["inside", "odd.duckdb"]
    assert [path.name for path in folder.parent.iterdir()] == ["site"]
    for path in folder.rglob("*.html"):
        page = Page(path)
        assert [tag for tag, _ in page.elements].count("script") == (2 if path.name == "search.html" else 0)
        assert not re.search("[\u2028\u202e\x00]", page.source)
        assert not any(link.startswith("javascript") for link in page.attributes("a", "href"))
    search = folder / "dbdc3" / "search.html"
    texts = json.loads(Page(search).texts["script"][0])["dialogues"]
    assert all(text.startswith(visible(ODD, lines=True)) for *_, turns in texts for *_, text in turns)
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(f"{search.as_uri()}#q=onerror")
        expect(tab.locator("#found mark").first).to_have_text("onerror")
        assert tab.locator("#found img, #found script").count() == 0
        tab.goto("about:blank")
        search.write_text(
            search.read_text("utf-8").replace('<main id="content">', f"<main>{INJECTED}"), encoding="utf-8"
        )
        reached: list[str] = []
        tab.route("http://**", lambda item: (reached.append(item.request.url), item.fulfill(body=""))[1])
        tab.goto(search.as_uri())
        tab.evaluate("for (const name of ['link', 'send']) document.getElementById(name).click()")
        assert tab.evaluate("window.acted") is None
        assert (tab.url, reached) == (search.as_uri(), [])


@pytest.mark.slow
def test_a_site_is_replaced_by_the_same_bytes_and_nothing_else_ever_is(
    sample: Path, filled: Path, site: Path, con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    again = tmp_path / "again"
    shutil.copytree(site, again)
    before = files_in(again)
    (again / "quality.html").unlink()
    command = [sys.executable, "-c", AGAIN, str(filled), str(again), str(MOST)]
    subprocess.run(command, check=True, env={"PYTHONHASHSEED": "3", "TZ": "Asia/Tokyo"})
    assert files_in(again) == before
    (again / "CNAME").write_text("mine")
    with pytest.raises(UsageError, match=r"CNAME: the folder has files that this has not written[\s\S]*--site"):
        write_site(con, again, most=MOST, is_accepted=False)
    (again / "CNAME").unlink()
    (again / "index.html").write_text("changed by hand")
    with pytest.raises(UsageError, match=r"index.html: the folder has files that this"):
        write_site(con, again, most=MOST, is_accepted=False)
    (again / RECORD).write_text("{")
    with pytest.raises(UsageError, match="is not empty"):
        write_site(con, again, most=MOST, is_accepted=False)
    assert (again / "index.html").read_text() == "changed by hand"
    assert [path.name for path in tmp_path.iterdir()] == ["again"]
    for options, problem in (
        ([], "nothing to write"),
        (["--site", "s", "--output", "r.html"], "two things"),
        (["--site", "s", "--force"], "--force goes with --output"),
        (["--output", "r.html", "--dialogues", "3"], "--dialogues goes with --site"),
        (["--site", "none/s"], "there is no such folder"),
    ):
        done = run("report", *options, "--db", sample, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert problem in done.stderr


@pytest.mark.slow
def test_a_replaced_folder_is_whole_at_every_moment(tmp_path: Path) -> None:
    output = tmp_path / "out"

    def write(text: str) -> None:
        with replaced_folder(output, lambda _: None) as folder:
            (folder / "a").write_text(text)

    write("one")
    output.chmod(0o750)
    write("two")
    assert ((output / "a").read_text(), output.stat().st_mode & 0o777) == ("two", 0o750)
    with pytest.raises(UsageError, match="can't be written"), replaced_folder(output, lambda _: None) as folder:
        (folder / "a" / "b").write_text("three")
    assert (output / "a").read_text() == "two"
    # A process was killed between the two renames: what was there comes back, and is asked about.
    output.rename(tmp_path / ".out.talkhouse.part.before")

    def mine(folder: Path) -> None:
        raise UsageError(f"not mine: {(folder / 'a').read_text()}")

    with pytest.raises(UsageError, match="not mine: two"), replaced_folder(output, mine):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    # Somebody puts a file into it meanwhile.
    asked: list[Path] = []

    def at_first(folder: Path) -> None:
        asked.append(folder)
        if len(asked) > 1:
            raise UsageError("no longer")

    with pytest.raises(UsageError, match="no longer"), replaced_folder(output, at_first) as folder:
        (folder / "a").write_text("four")
    assert (output / "a").read_text() == "two"
    (tmp_path / "file").write_text("a file")
    with pytest.raises(UsageError, match="is a file"), replaced_folder(tmp_path / "file", lambda _: None):
        pass
