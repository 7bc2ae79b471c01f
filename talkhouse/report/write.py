"""Writes the report on a warehouse: the same bytes for the same build."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from talkhouse.charts.declared import Declared, dashboards
from talkhouse.citation.formats import bibtex, bibtex_of
from talkhouse.citation.software import software
from talkhouse.explore import data_dictionary
from talkhouse.queries.catalogue import BI
from talkhouse.report import content, page
from talkhouse.report.figures import Figure, figures
from talkhouse.schema.errors import UsageError
from talkhouse.system.atomic_output import atomic_file, check_free
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.own_views import fits_views

_OVERVIEW = "overview"
"""The dashboard whose charts open the report; its tables are sections of their own here."""

_ENDINGS = (".html", ".htm")


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
        described = _describe(Warehouse(con), on_chart)
        shown = [*described["overview"], *(figure for corpus in described["corpora"] for figure in corpus["figures"])]
        drawings = {figure.id: figure.drawing for figure in shown if figure.drawing}
        text = page.render(described, drawings)
        part.write_text(text, encoding="utf-8", newline="\n")
        size = part.stat().st_size
    return Report(output, size, len(described["corpora"]), len(drawings))


def _describe(warehouse: Warehouse, on_chart: Callable[[int], None]) -> dict[str, Any]:
    """Gather all that the page says."""
    con, files = warehouse.con, warehouse.query_files
    declared = dashboards(files)

    def drawn(folder: str, **options: bool) -> Iterator[Figure]:
        for file in declared:
            if file.folder == folder and (folder != BI or file.name == _OVERVIEW):
                for figure in figures(con, file, files, **options):
                    on_chart(1)
                    yield figure

    cited = bibtex_of(warehouse.corpora)
    with fits_views("the report"):
        build = content.build(con)
        return {
            "build": build,
            "software": software(build).sentence,
            "software_bibtex": bibtex([software(build)]),
            "overview": list(drawn(BI, tables=False)),
            "corpora": [
                {
                    **corpus,
                    "bibtex": cited[corpus["corpus_id"]],
                    "about": _about(declared, corpus["corpus_id"]),
                    "figures": list(drawn(corpus["corpus_id"], tables=True)),
                    "splits": content.splits(con, corpus["corpus_id"]),
                    "gold_labels": content.gold_labels(con, corpus["corpus_id"]),
                }
                for corpus in content.corpora(con)
            ],
            "agreement": content.agreement(con),
            "not_compared": content.not_compared(con),
            "agreement_by_subset": content.agreement_by_subset(con),
            "files": content.files(con),
            "findings": content.findings(con),
            "checks": content.checks(con),
            "exceptions": content.exceptions(con),
            "tables": data_dictionary.tables(),
            "views": data_dictionary.views(con, warehouse.catalogue.views),
            "schemes": content.schemes(con),
        }


def _about(declared: Iterable[Declared], corpus_id: str) -> str:
    """Return what the dashboard of a corpus says of it; empty where it has none."""
    return " ".join(file.dashboard.description.strip() for file in declared if file.folder == corpus_id)
