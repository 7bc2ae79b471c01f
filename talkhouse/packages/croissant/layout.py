"""The package of ``--for croissant``: the rows as Parquet, labels as texts, and croissant.json."""

from pathlib import Path
from typing import Any

from talkhouse.packages.content import Package
from talkhouse.packages.croissant.document import write_croissant
from talkhouse.packages.layout import Layout
from talkhouse.packages.plan import plan
from talkhouse.packages.tables import Form, write_tables
from talkhouse.query.row_stream import OnRows


def _write(package: Package, folder: Path, on_rows: OnRows) -> list[dict[str, Any]]:
    files = write_tables(package, folder, Form(), on_rows)
    write_croissant(package, folder, files)
    return [file.described for file in files]


LAYOUT = Layout(plan, _write)
