"""Takes pictures of the pages of `talkhouse dashboard` and of a site, from the samples, in Chromium.

`uv run python -m docs.pictures.take FOLDER` takes all pages, light and dark, on a phone and on a desk;
`uv run python -m docs.pictures.take` takes the pictures of these documents, light and dark, into docs/pictures.
"""

import argparse
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser

from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from tests.browser import Visit, launched, served, visit
from tests.commands import run

WIDTHS = (390, 1_400)
SCHEMES = ("light", "dark")
WINDOW = {"width": 1_300, "height": 860}
PAGES = {
    "home": "",
    "read": "read?dialogue=dbdc3:CIC9001",
    "ask": "ask?show=Annotations:+Labels&by=Split&over=Subset&only_corpus_id=Dialogue+Breakdown+Detection+Challenge+3",
    "errors": "errors?run=uniform&beside=majority",
    "corpus": "dbdc3",
}
"""Name of a picture of these documents -> the page's address."""
SITE_PAGE = "dbdc3/index.html"
RUNS = ("majority", "uniform")
TASK = ("dbdc3.breakdown_detection", "--release", "dbdc3", "--split", "eval")

_HEIGHT = """() => {
    const main = document.querySelector('[data-testid="stMain"]');
    return Math.max(main.scrollHeight, 800);
}"""


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    folder = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as name, launched() as browser:
        warehouse = Path(name) / "talkhouse.duckdb"
        build(warehouse, Silent())
        for baseline in RUNS:
            run("score", *TASK, "--baseline", baseline, "--save", baseline, cwd=Path(name))
        with served(warehouse, Path(name)) as pages:
            if folder:
                folder.mkdir(parents=True, exist_ok=True)
                take_all(browser, pages.url, folder)
            else:
                take_for_documents(browser, pages.url, Path(name))


def take_all(browser: Browser, url: str, folder: Path) -> None:
    """Take each page as long as it is."""
    for scheme in SCHEMES:
        for width in WIDTHS:
            size = {"width": width, "height": 900}
            with visit(browser, url, viewport=size, color_scheme=scheme) as visited:
                visited.open()
                for path in visited.links():
                    name = path.strip("/") or "home"
                    visited.page.set_viewport_size(size)
                    visited.open(path)
                    visited.page.set_viewport_size({"width": width, "height": visited.page.evaluate(_HEIGHT)})
                    (folder / f"{name}-{width}-{scheme}.png").write_bytes(still(visited))


def take_for_documents(browser: Browser, url: str, folder: Path) -> None:
    """Take the pictures of the documents, in few colours, which makes them small."""
    run("report", "--site", "site", "--accept-terms", cwd=folder)
    for scheme in SCHEMES:
        with visit(browser, url, viewport=WINDOW, color_scheme=scheme) as visited:
            for name, path in PAGES.items():
                visited.open(path)
                write(still(visited), f"{name}-{scheme}.png")
            visited.page.set_viewport_size({**WINDOW, "width": 800})
            visited.page.goto((folder / "site" / SITE_PAGE).as_uri())
            write(still(visited), f"site-{scheme}.png")


def write(picture: bytes, name: str) -> None:
    """Write a picture with a palette of its own."""
    file = Path(__file__).with_name(name)
    with Image.open(BytesIO(picture)) as opened:
        opened.convert("RGB").quantize(128).save(file, optimize=True)
    print(f"{name}: {file.stat().st_size / 1e3:.0f} kB")


def still(visited: Visit) -> bytes:
    """Take a picture once two are the same: charts are drawn anew when their place becomes wider."""
    before, picture = b"", visited.page.screenshot()
    for _ in range(50):
        if picture == before:
            break
        visited.page.wait_for_timeout(100)
        before, picture = picture, visited.page.screenshot()
    return picture


if __name__ == "__main__":
    main()
