"""Opens every page of ``talkhouse dashboard`` in Chromium for the first time, and prints what each took.

    python -m benchmarks.sides.open_pages [WAREHOUSE]

The server and the browser are new. A page is opened by its address, and is drawn when its script has ended and its
charts are there. Without a warehouse it is a page of Streamlit's with nothing in it, which the browser has opened once.
"""

import json
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser

from benchmarks.sides.clock import Times, timed
from tests.browser import address, free_port, launched, served, started, visit

_EMPTY = "import streamlit as st\nst.title('Nothing')\n"


def pages(browser: Browser, warehouse: Path, folder: Path) -> dict[str, Times]:
    """Open all pages, each once."""
    with served(warehouse, folder) as server, visit(browser, server.url) as visited:
        took = {"/": timed(visited.open)}
        others = visited.links()[1:]
        return took | {path: timed(visited.open, path) for path in others}


def empty_page(browser: Browser, folder: Path) -> Times:
    """Open an empty page that the browser has opened before."""
    script, port = folder / "empty.py", free_port()
    script.write_text(_EMPTY)
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.headless=true", f"--server.port={port}"]
    options = ["--server.address=127.0.0.1", "--browser.gatherUsageStats=false", "--server.fileWatcherType=none"]
    with started([*command, *options], port, folder), visit(browser, address(port)) as visited:
        visited.open()
        return timed(visited.open)


def main() -> None:
    """Open the pages of a warehouse, or the empty one."""
    with tempfile.TemporaryDirectory() as name, launched() as browser:
        folder, warehouse = Path(name), sys.argv[1:]
        print(json.dumps(pages(browser, Path(*warehouse), folder) if warehouse else empty_page(browser, folder)))


if __name__ == "__main__":
    main()
