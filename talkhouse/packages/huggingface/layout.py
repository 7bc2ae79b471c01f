"""The package of ``--for huggingface``."""

from functools import partial
from pathlib import Path
from typing import Any

from talkhouse.packages.content import Package
from talkhouse.packages.croissant.document import write_croissant
from talkhouse.packages.huggingface.card import card
from talkhouse.packages.huggingface.features import footer, value
from talkhouse.packages.layout import Layout
from talkhouse.packages.plan import plan
from talkhouse.packages.tables import Form, write_tables
from talkhouse.query.row_stream import OnRows

_RESERVED = {"all": "train"}
"""``datasets`` takes ``all`` for all splits together."""


def _write(package: Package, folder: Path, on_rows: OnRows) -> list[dict[str, Any]]:
    files = write_tables(package, folder, Form(value, footer), on_rows)
    (folder / "README.md").write_text(card(package, folder, files), encoding="utf-8")
    write_croissant(package, folder, files)
    return [file.described for file in files]


LAYOUT = Layout(partial(plan, reserved=_RESERVED), _write)
