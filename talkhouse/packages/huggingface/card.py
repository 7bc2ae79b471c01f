"""The dataset card: README.md."""

from collections.abc import Sequence
from pathlib import Path

from talkhouse.packages.content import DataFile, Package
from talkhouse.packages.huggingface.head import head


def card(package: Package, folder: Path, files: Sequence[DataFile]) -> str:
    """Return the card of a package whose files are in a folder."""
    return f"---\n{head(package, folder, files)}---\n"
