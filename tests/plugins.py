"""Invented packages that bring a corpus, laid out as pip installs them: a module next to its metadata."""

import sys
from pathlib import Path

CORPUS = """
from talkhouse.corpus import Corpus
CORPUS = Corpus(id={corpus_id!r}, version=1, title="", description="", homepage="", licence="", citation="",
    languages=(), files="", read=lambda files: iter(()), write=lambda records: iter(()), {more})
"""


def installed(
    site: Path,
    corpus_id: str = "toy",
    content: str | None = None,
    *,
    name: str = "lab-toys",
    version: str = "1.2",
    more: str = "",
    attribute: str = "CORPUS",
) -> Path:
    """Lay out a package below a folder of Python's path; return the folder of its module."""
    module = site / name.replace("-", "_")
    module.mkdir(parents=True, exist_ok=True)
    written = CORPUS.format(corpus_id=corpus_id, more=more) if content is None else content
    (module / "__init__.py").write_text(written, encoding="utf-8")
    metadata = site / f"{module.name}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    points = f"[talkhouse.corpora]\n{corpus_id} = {module.name}:{attribute}\n"
    (metadata / "entry_points.txt").write_text(points, encoding="utf-8")
    return module


def know(site: Path) -> None:
    """Have the packages below a folder in the process that calls this; for ``before`` of a command."""
    sys.path.insert(0, str(site))
