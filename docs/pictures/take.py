"""Takes pictures of the pages of `talkhouse dashboard` from the samples, in Chromium.

`uv run python -m docs.pictures.take FOLDER` takes all pages, light and dark, on a phone and on a desk;
`uv run python -m docs.pictures.take` takes the pictures of the README, into docs/pictures.
"""

import argparse
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser

from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from tests.browser import Visit, launched, served, visit

WIDTHS = (390, 1_400)
SCHEMES = ("light", "dark")
README = {
    "dashboard-home": ("", 1_400, 1_000),
    "dashboard-read": ("read?dialogue=dbdc3:CIC9001", 1_400, 1_000),
}
"""Name of a picture -> the page's address, and the width and height of the window."""

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
        with served(warehouse, Path(name)) as pages:
            if folder:
                folder.mkdir(parents=True, exist_ok=True)
                take_all(browser, pages.url, folder)
            else:
                take_for_readme(browser, pages.url)


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


def take_for_readme(browser: Browser, url: str) -> None:
    """Take the pictures of the README, in few colours, which makes them small."""
    for name, (path, width, height) in README.items():
        with visit(browser, url, viewport={"width": width, "height": height}) as visited:
            visited.open(path)
            file = Path(__file__).with_name(f"{name}.png")
            file.write_bytes(still(visited))
        with Image.open(file) as picture:
            few = picture.convert("RGB").quantize(256)
        few.save(file, optimize=True)
        print(f"{file.name}: {file.stat().st_size / 1e3:.0f} kB")


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
