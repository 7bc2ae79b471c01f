"""Time until a page of ``talkhouse dashboard`` is drawn in Chromium, beside its queries alone and an empty page.

    uv run python -m benchmarks.large_warehouse large.duckdb
    uv run python -m benchmarks.dashboard_time large.duckdb --rounds 3

Each round has a server of its own and a browser of its own. A page is opened by its address, and is drawn when its
script has ended and its charts are there: for the first time, when nothing of it is known, and again. Below them is a
click on a facet of the page Read, on each of the first few. The peers are an empty page of Streamlit's, opened in the
same browser, and the queries of the page's declared charts, one after the other in a connection of their own.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser

import talkhouse
from talkhouse.charts.declarations import dashboards, metrics
from talkhouse.charts.query import chart_sql
from tests.browser import Visit, address, free_port, launched, served, started, visit

PAGE, CLICK = 2.0, 1.0
"""Seconds that a page and a click may take."""

FACETS = 5
"""Facets that are clicked on, each from the list of all conversations."""

_EMPTY = "import streamlit as st\nst.title('Nothing')\n"
_FACET = ".st-key-facets a"

Times = dict[str, list[float]]


def seconds(action: Callable[[], object]) -> float:
    """Return how long something takes."""
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def empty_page(browser: Browser, folder: Path) -> float:
    """Return how long an empty page takes that the browser has opened before."""
    script, port = folder / "empty.py", free_port()
    script.write_text(_EMPTY)
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.headless=true", f"--server.port={port}"]
    options = ["--server.address=127.0.0.1", "--browser.gatherUsageStats=false", "--server.fileWatcherType=none"]
    with started([*command, *options], port, folder), visit(browser, address(port)) as visited:
        visited.open()
        return seconds(visited.open)


def pages(browser: Browser, warehouse: Path, folder: Path, first: Times, again: Times, clicks: Times) -> None:
    """Open every page twice, and click on facets; adds to the times."""
    with served(warehouse, folder) as server, visit(browser, server.url) as visited:
        links: list[str] = []

        def home() -> None:
            visited.open()
            links.extend(visited.links())

        first["/"].append(seconds(home))
        for path in links[1:]:
            first[path].append(seconds(lambda path=path: visited.open(path)))
        for path in links:
            again[path].append(seconds(lambda path=path: visited.open(path)))
        if "/read" in links:
            click_facets(visited, clicks)


def click_facets(visited: Visit, clicks: Times) -> None:
    """Click on some facets of the page Read, each for the first time."""
    visited.open("/read")
    count = visited.page.locator(_FACET).count()
    for number in range(0, count, max(1, count // FACETS)):
        visited.open("/read")
        link = visited.page.locator(_FACET).nth(number)
        name = " ".join(link.inner_text().split()[1:])
        clicks[name].append(seconds(lambda link=link: visited.act(link.click)))


def queries(warehouse: Path) -> dict[str, float]:
    """Return how long the queries of each page of declared charts take."""
    found = {}
    with talkhouse.open(warehouse) as con:
        for one in dashboards():
            texts = [chart_sql(chart, metrics().get(chart.view, {})) for chart in one.dashboard.charts]
            found[f"/{one.name}"] = seconds(lambda texts=texts: [con.execute(text).fetchall() for text in texts])
    return found


def main() -> None:
    """Measure some rounds, and print medians and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("warehouse", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    first, again, clicks, alone = (defaultdict(list) for _ in range(4))
    floor = []
    with tempfile.TemporaryDirectory() as name:
        for _ in range(arguments.rounds):
            with launched() as browser:
                floor.append(empty_page(browser, Path(name)))
                pages(browser, arguments.warehouse.absolute(), Path(name), first, again, clicks)
            for path, took in queries(arguments.warehouse).items():
                alone[path].append(took)
    least = statistics.median(floor)
    print(f"median seconds of {arguments.rounds}; an empty page: {least:.2f}")
    print(f"{'page (at most ' + str(PAGE) + ' s)':32} {'first':>6} {'again':>6} {'by empty':>9} {'its queries':>12}")
    for path in first:
        one, two = statistics.median(first[path]), statistics.median(again[path])
        asked = f"{statistics.median(alone[path]):12.2f}" if path in alone else ""
        print(f"{path:32} {one:6.2f} {two:6.2f} {one / least:7.1f} x {asked}{'' if one <= PAGE else '   too slow'}")
    for facet, times in clicks.items():
        took = statistics.median(times)
        print(f"click: {facet:25} {took:6.2f} {'':6} {took / least:7.1f} x{'' if took <= CLICK else '   too slow'}")


if __name__ == "__main__":
    main()
