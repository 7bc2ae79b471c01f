"""Every page of the dashboard, opened for the first time.

    python -m benchmarks.scenarios.dashboard [WAREHOUSE]

opens every page of ``talkhouse dashboard`` in Chromium, and prints what each took. The server and the browser are new.
A page is opened by its address, and is drawn when its script has ended and its charts are there. Without a warehouse it
is a page of Streamlit's with nothing in it, which the browser has opened once.
"""

import json
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.clock import Times, timed
from benchmarks.scenario import Case, Scenario, large_warehouse, module

SHARES = {"700,000 examples": 0.1, "7 million examples": 1.0}


def _case(share: float, folder: Path) -> Case:
    page = module("Talkhouse, the page", __name__, large_warehouse(folder, share))
    return Case((page, module("Streamlit, an empty page", __name__)), share)


SCENARIO = Scenario(
    name="dashboard",
    title="Every page of the dashboard, the first time",
    cases={name: partial(_case, share) for name, share in SHARES.items()},
    quick=("700,000 examples",),
    limit=dict.fromkeys(SHARES, 3.0),
    notes=(
        "A page is opened by its address in Chromium, and is there when its script has ended and its charts are drawn.",
        "The server is new in each run, and has not shown the page before; memory is that of server and browser.",
    ),
)

_EMPTY = "import streamlit as st\nst.title('Nothing')\n"


def pages(warehouse: Path, folder: Path) -> dict[str, Times]:
    """Open all pages, each once."""
    from tests.browser import launched, served, visit

    with launched() as browser, served(warehouse, folder) as server, visit(browser, server.url) as visited:
        took = {"/": timed(visited.open)}
        others = visited.links()[1:]
        return took | {path: timed(visited.open, path) for path in others}


def empty_page(folder: Path) -> Times:
    """Open an empty page that the browser has opened before."""
    from tests.browser import address, free_port, launched, started, visit

    script, port = folder / "empty.py", free_port()
    script.write_text(_EMPTY)
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.headless=true", f"--server.port={port}"]
    options = ["--server.address=127.0.0.1", "--browser.gatherUsageStats=false", "--server.fileWatcherType=none"]
    server = started([*command, *options], port, folder)
    with launched() as browser, server, visit(browser, address(port)) as visited:
        visited.open()
        return timed(visited.open)


def main() -> None:
    """Open the pages of a warehouse, or the empty one."""
    with tempfile.TemporaryDirectory() as name:
        folder, warehouse = Path(name), sys.argv[1:]
        print(json.dumps(pages(Path(*warehouse), folder) if warehouse else empty_page(folder)))


if __name__ == "__main__":
    main()
