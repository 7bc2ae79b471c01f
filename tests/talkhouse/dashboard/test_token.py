"""The token in a real browser: what leads to the pages, what does not, and who sees it on the way."""

import http.server
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request

from tests.browser import MINUTE, Served, Visit, served
from tests.data_files import data_of

pytestmark = pytest.mark.slow

OPEN = """#!/bin/sh
echo "$1" > {folder}/told.part
mv {folder}/told.part {folder}/told
sleep 30
"""
"""In place of the program that opens the browser; it stays, so that its command line can be looked at."""

ELSEWHERE = data_of(__file__)["elsewhere"]
"""What a page of somebody else's tries."""


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser that knows nothing."""
    found = browser.new_context()
    yield found
    found.close()


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """The address of a server of somebody else's, at another port."""

    class Empty(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answer with a page that has nothing in it."""
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<body></body>")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Empty) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@contextmanager
def drawn(page: Page) -> Iterator[None]:
    """Wait until what is done inside has led to a page with a headline."""
    yield
    page.wait_for_selector('[data-testid="stMain"] :is(h1, h2, h3)', timeout=2 * MINUTE)


def test_the_printed_address_leads_to_the_page_without_the_token(context: BrowserContext, pages: Served) -> None:
    page = context.new_page()
    asked: list[Request] = []
    context.on("request", lambda item: asked.append(item))
    url, _, token = pages.url.partition("/?token=")
    with drawn(page):
        page.goto(f"{url}/read?dialogue=dbdc3%3ACIC9001&token={token}")
    assert page.url == f"{url}/read?dialogue=dbdc3%3ACIC9001"
    assert sum(token in request.url for request in asked) == 1
    assert not any(token in request.headers.get("referer", "") for request in asked)
    assert token not in page.content()
    (cookie,) = (item for item in context.cookies() if item["name"].startswith("talkhouse-"))
    assert (cookie["value"], cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (token, True, "Strict", "/")
    assert cookie["expires"] == -1
    assert token not in page.evaluate("document.cookie")


def test_without_the_token_a_page_says_what_to_do(context: BrowserContext, pages: Served) -> None:
    page = context.new_page()
    for path in ("/", "/read", "/sql?query=select%201", "/media/x.csv"):
        answer = page.goto(pages.url.partition("/?")[0] + path)
        assert answer is not None
        assert answer.status == 403
        assert "Open the address that talkhouse dashboard printed" in page.inner_text("body")


def test_a_link_on_another_site_needs_one_click_more(context: BrowserContext, pages: Served) -> None:
    url = pages.url.partition("/?")[0]
    page = context.new_page()
    context.request.get(pages.url)
    page.route("http://outside.example/", lambda item: item.fulfill(body=f'<a href="{url}/read">Read</a>'))
    page.goto("http://outside.example/")
    page.click("a")
    page.wait_for_url(f"{url}/read")
    assert "Access refused" in page.inner_text("h1")
    with drawn(page):
        page.get_by_text("open this page again").click()
    assert page.url == f"{url}/read"


def gets_nothing(context: BrowserContext, elsewhere: str, pages: Served) -> None:
    url = pages.url.partition("/?")[0]
    context.request.get(pages.url)
    page = context.new_page()
    page.goto(elsewhere)
    found = page.evaluate(ELSEWHERE, url)
    assert set(found) == {"refused"}
    assert len(found) == 19
    page.set_content(f'<iframe src="{url}/"></iframe>')
    frame = page.frames[1]
    frame.wait_for_load_state()
    assert frame.url.startswith("chrome-error:")
    with drawn(page):
        page.goto(f"{url}/")


def test_a_page_of_another_port_gets_nothing(context: BrowserContext, elsewhere: str, pages: Served) -> None:
    gets_nothing(context, elsewhere, pages)


def test_nor_does_it_where_no_token_is_asked_for(
    context: BrowserContext, elsewhere: str, sample: Path, tmp_path: Path
) -> None:
    with served(sample, tmp_path, "--no-token") as pages:
        gets_nothing(context, elsewhere, pages)


def test_the_browser_is_opened_without_telling_others_the_token(
    context: BrowserContext, sample: Path, tmp_path: Path
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "xdg-open").write_text(OPEN.format(folder=programs))
    (programs / "xdg-open").chmod(0o755)
    with served(sample, tmp_path, browser="", PATH=f"{programs}:{os.environ['PATH']}") as pages:
        token = pages.url.partition("/?token=")[2]
        end = time.monotonic() + 60
        while not (programs / "told").exists() and time.monotonic() < end:
            time.sleep(0.05)
        file = Path((programs / "told").read_text().strip().removeprefix("file://"))
        assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        server = psutil.Process(pages.process.pid)
        for process in (server, *server.children(recursive=True)):
            assert token not in " ".join([*process.cmdline(), *process.environ().values()])
        page = context.new_page()
        with drawn(page):
            page.goto(file.as_uri())
        assert page.url == pages.url.partition("?")[0]
        assert pages.stop()[0] == 0
        assert not file.exists()
    assert pages.output.read_text().count(token) == 1


def test_a_file_and_a_query_reach_who_has_the_token(visited: Visit) -> None:
    visited.open("sql")
    area = visited.page.get_by_role("textbox", name="Query", exact=True)
    area.fill("select 40 + 2 as answer")
    visited.act(area.blur)  # the page runs again when it gets the query, and once more for Run
    visited.act(visited.page.get_by_role("button", name="Run").click)
    visited.page.get_by_text("Download", exact=True).first.click()
    visited.press(visited.page.get_by_role("button", name="Make the file"))
    with visited.page.expect_download() as waiting:
        visited.page.get_by_test_id("stDownloadButton").get_by_role("button").click()
    assert Path(waiting.value.path()).read_text() == '"answer"\n42\n'
