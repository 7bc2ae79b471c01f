"""Makes a website of the documents: ``uv run --group docs python -m docs.site [FOLDER]``, by default into ``site/``.

Beside the pages in this folder it has the README as its first page, a page for each corpus and each example, that on
SQL, and the pages at the top of the repository. It is made without a network, and not at all where a link leads
nowhere.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
UNSEARCHED = ("decisions/0*.md", "CHANGELOG.md", "changelog-*.md")
"""Pages that the search leaves out: they would hide the pages that explain how something works today."""

_PICTURE = re.compile(r'<picture>\s*<source [^>]*srcset="(.+?)">\s*<img alt="(.*?)" src="(.+?)">\s*</picture>')
"""A picture for a dark page and one for a light page; the site has a switch of its own."""
_LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#]+)")


def pages() -> dict[Path, Path]:
    """Map each document of the repository, a path from its root, to its place in the website."""
    top = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
    corpora = sorted((ROOT / "ingest" / "corpora").glob("*/README.md"))
    examples = sorted((ROOT / "examples").glob("*/README.md"))
    return {
        Path("README.md"): Path("index.md"),
        **{Path(name): Path(name) for name in top},
        Path("queries", "README.md"): Path("queries.md"),
        Path("migrations", "README.md"): Path("migrations.md"),
        **{path.relative_to(ROOT): Path("corpora", f"{path.parent.name}.md") for path in corpora},
        **{path.relative_to(ROOT): Path("examples", f"{path.parent.name}.md") for path in examples},
        **{
            path.relative_to(ROOT): path.relative_to(DOCS)
            for pattern in ("**/*.md", "**/*.png", "*.json", "notebooks/*.ipynb")
            for path in sorted(DOCS.glob(pattern))
            if not path.match("notebooks/*.md")  # what the notebooks are made from
        },
    }


def lay_out(folder: Path) -> None:
    """Write the pages into a folder with their links led to where each page is in the website."""
    places = pages()
    for source, place in places.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix != ".md":
            shutil.copyfile(ROOT / source, target)
            continue

        def moved(link: re.Match[str], source: Path = source, place: Path = place) -> str:
            meant = (ROOT / source.parent / link[0]).resolve().relative_to(ROOT)
            return Path(os.path.relpath(places.get(meant, meant), place.parent)).as_posix()

        front = "---\nsearch:\n  exclude: true\n---\n\n" if any(map(place.match, UNSEARCHED)) else ""
        text = _PICTURE.sub(r"![\2](\3#only-light)\n![\2](\1#only-dark)", (ROOT / source).read_text(encoding="utf-8"))
        target.write_text(front + _LINK.sub(moved, text), encoding="utf-8")


def make(site: Path) -> None:
    """Make the website; CalledProcessError where a page has a link that leads nowhere."""
    with tempfile.TemporaryDirectory() as name:
        shutil.copyfile(DOCS / "zensical.toml", Path(name, "zensical.toml"))
        lay_out(Path(name, "docs"))
        subprocess.run([sys.executable, "-m", "zensical", "build", "--strict"], cwd=name, check=True)
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(Path(name, "site"), site)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m docs.site", description="Make the website.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("site"), help="replaced whole (default: site)")
    make(parser.parse_args().folder)
