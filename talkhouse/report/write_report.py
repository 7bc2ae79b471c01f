"""Writes the report on a warehouse as one HTML page: the same bytes for the same build."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb

from talkhouse.html_pages import environment, own_parts
from talkhouse.report.description import TEMPLATES, describe
from talkhouse.schema.errors import UsageError
from talkhouse.system.atomic_output import atomic_file, check_free
from talkhouse.warehouse.opened import Warehouse

_ENDINGS = (".html", ".htm")
_STYLES = ("base.css", "style.css")
_ON_ONE_PAGE = {"is_site": False, "root": "", "quality": "", "level": 3}
"""Where links lead: everything is on this page. The heading of a corpus is of the third level."""


@dataclass(frozen=True)
class Report:
    """A page that was written."""

    path: Path
    bytes: int
    corpora: int
    charts: int
    """Charts that are drawn."""


def write_report(
    con: duckdb.DuckDBPyConnection,
    output: Path,
    *,
    force: bool = False,
    on_chart: Callable[[int], None] = lambda _: None,
) -> Report:
    """Write one HTML page that needs nothing else; ``force`` replaces an existing file.

    ``on_chart`` is called with 1 for each chart whose rows are there, which takes nearly all of the time.

    Raises UsageError for a path that can't be, OutputFailed where there is no room, SchemaMismatch where the
    warehouse's views are of another Talkhouse.
    """
    if output.suffix.lower() not in _ENDINGS:
        raise UsageError(
            "a report is an HTML page", where=output, next_step=f"name it {output.with_suffix('.html').name}"
        )
    check_free(con, [output], force=force)
    with atomic_file(output) as part:
        described = describe(Warehouse(con), on_chart)
        page = (
            environment(TEMPLATES)
            .get_template("page.html")
            .render({**described, **_ON_ONE_PAGE, **own_parts(TEMPLATES, _STYLES)})
        )
        part.write_text(page, encoding="utf-8", newline="\n")
        size = part.stat().st_size
    return Report(output, size, len(described["corpora"]), len(described["figures"]))
