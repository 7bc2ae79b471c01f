"""Writes the report on a warehouse as one HTML page: the same bytes for the same build."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Any

import duckdb

from talkhouse.charts.declarations import DeclaredDashboard, dashboards, metrics
from talkhouse.charts.view_cache import ViewCache, often_asked
from talkhouse.charts.words import FilledHeadline, fill
from talkhouse.citation.formats import bibtex, bibtex_of
from talkhouse.citation.work import software
from talkhouse.export.personal_data import check_texts
from talkhouse.export.terms import parts_of_corpus
from talkhouse.html_pages import environment, own_parts
from talkhouse.personal import PersonalData
from talkhouse.profile import profile
from talkhouse.queries.catalogue import BI
from talkhouse.report import content
from talkhouse.report.dialogue_examples import examples, label_counts, places
from talkhouse.report.figures import Figure, figures
from talkhouse.schema.errors import UsageError
from talkhouse.system.atomic_output import atomic_file, check_free
from talkhouse.warehouse import data_dictionary
from talkhouse.warehouse.build_facts import QUESTIONS, datasheets, own_corpora
from talkhouse.warehouse.opened import Warehouse, fits_views

_ENDINGS = (".html", ".htm")
_STYLES = ("base.css", "style.css")
_ON_ONE_PAGE = {"is_site": False, "root": "", "quality": "", "level": 3}
"""Link targets: everything is on this page. The heading of a corpus is of the third level."""


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
    personal: PersonalData = PersonalData.ASK,
    force: bool = False,
    on_chart: Callable[[int], None] = lambda _: None,
) -> Report:
    """Write one HTML page that needs nothing else; ``force`` replaces an existing file.

    ``personal``: what becomes of personal data in texts of corpora of one's own. ``on_chart`` is called with 1 for each
    chart whose rows are there, which takes nearly all of the time.

    Raises UsageError for an impossible path, PersonalDataFound, OutputFailed if there is no room, SchemaMismatch if the
    warehouse's views are of another version of Talkhouse.
    """
    if output.suffix.lower() not in _ENDINGS:
        raise UsageError(
            "a report is an HTML page", where=output, next_step=f"name it {output.with_suffix('.html').name}"
        )
    check_free(con, [output], force=force)
    warehouse = Warehouse(con)
    check_texts(warehouse, personal)
    with atomic_file(output) as part:
        described = describe(warehouse, on_chart)
        page = (
            environment(TEMPLATES)
            .get_template("page.html")
            .render({**described, **_ON_ONE_PAGE, **own_parts(TEMPLATES, _STYLES)})
        )
        part.write_text(page, encoding="utf-8", newline="\n")
        size = part.stat().st_size
    return Report(output, size, len(described["corpora"]), len(described["figures"]))


TEMPLATES = Path(__file__).with_name("templates")
"""The folder of its templates."""

_OVERVIEW = "overview"
"""The dashboard whose charts open the report; its tables are sections of their own here."""

_COLUMNS = """
select table_name, list(column_name order by column_index) from duckdb_columns()
where schema_name = ? and database_name = current_database() group by table_name
"""


def describe(warehouse: Warehouse, on_chart: Callable[[int], None], *, is_accepted: bool = False) -> dict[str, Any]:
    """Return the data of the pages, by the names that their templates use.

    ``on_chart`` is called with 1 for each chart whose rows are there, which takes nearly all of the time.
    ``is_accepted``: whether texts are shown whose terms require more than attribution.
    """
    con, files = warehouse.con, warehouse.query_files
    there = {BI, *warehouse.corpus_ids}
    declared = [file for file in dashboards(files) if file.folder in there]
    with fits_views("the report"), closing(_held(warehouse)) as held:
        build = content.build(con)
        sentences = {
            file.name: [
                sentence for headline in file.dashboard.headlines if (sentence := fill(held.rows, headline, files))
            ]
            for file in declared
        }
        shown = _figures(warehouse, held, declared, on_chart)
        corpora = _corpora(warehouse, held, declared, sentences, shown, is_accepted=is_accepted)
        return {
            "build": build,
            "software": software(build).sentence,
            "software_bibtex": bibtex([software(build)]),
            "headlines": [headline for file in declared if file.folder == BI for headline in sentences[file.name]],
            "sizes": content.sizes(con, held),
            "tasks": content.tasks(con, held),
            "overview": shown[BI],
            "corpora": corpora,
            "places": places(con, [example for corpus in corpora for example in corpus["examples"]]),
            "figures": [figure for folder in (BI, *warehouse.corpus_ids) for figure in shown[folder] if figure.number],
            "agreement": content.agreement(held),
            "not_compared": content.not_compared(con, held),
            "agreement_by_subset": content.agreement_by_subset(con, held),
            "files": content.files(con),
            "findings": content.findings(con),
            "checks": content.checks(con),
            "overlap": content.overlap(warehouse),
            "profiles": [profile(con, corpus_id, most=0) for corpus_id in sorted(own_corpora(con, warehouse.database))],
            "exceptions": content.exceptions(con),
            "tables": data_dictionary.tables(),
            "views": data_dictionary.views(con, warehouse.catalogue.views),
            "schemes": content.schemes(con).values(),
        }


def _held(warehouse: Warehouse) -> ViewCache:
    """Hold the views that several dashboards and sections query."""
    files = warehouse.query_files
    boards = [file.dashboard for file in dashboards(files)]  # a chart has the colours of filters of any of them
    often = often_asked(boards, metrics(files), _columns(warehouse), content.QUERIES)
    return ViewCache(lambda: nullcontext(warehouse.con), f"{warehouse.database}_held", often)


def _figures(
    warehouse: Warehouse, held: ViewCache, declared: Iterable[DeclaredDashboard], on_chart: Callable[[int], None]
) -> dict[str, list[Figure]]:
    """Return the figures by the folder that declares them; drawings are numbered through the page."""
    numbers, columns = count(1), _columns(warehouse)
    shown: dict[str, list[Figure]] = {folder: [] for folder in (BI, *warehouse.corpus_ids)}
    for file in declared:
        if file.folder != BI or file.name == _OVERVIEW:
            for figure in figures(held, file, warehouse.query_files, columns, tables=file.folder != BI):
                on_chart(1)
                shown[file.folder].append(figure)
    return {
        folder: [replace(figure, number=next(numbers)) if figure.drawing else figure for figure in of_folder]
        for folder, of_folder in shown.items()
    }


def _corpora(
    warehouse: Warehouse,
    held: ViewCache,
    declared: Sequence[DeclaredDashboard],
    sentences: dict[str, list[FilledHeadline]],
    shown: dict[str, list[Figure]],
    *,
    is_accepted: bool,
) -> list[dict[str, Any]]:
    con, cited = warehouse.con, bibtex_of(warehouse.corpora)
    sheets, labels = datasheets(con, warehouse.database), content.schemes(con)
    every = examples(warehouse, chain.from_iterable(sentences.values()), labels, is_accepted=is_accepted)
    votes = label_counts(con, labels)
    return [
        {
            **corpus,
            "bibtex": cited[corpus["corpus_id"]],
            "about": _about(declared, corpus["corpus_id"]),
            "headlines": [
                headline for file in declared if file.folder == corpus["corpus_id"] for headline in sentences[file.name]
            ],
            "figures": shown[corpus["corpus_id"]],
            "votes": [row for row in votes if row["corpus_id"] == corpus["corpus_id"]],
            "publications": content.publications(con, corpus["corpus_id"]),
            "splits": content.splits(con, held, corpus["corpus_id"], default=True),
            "other_splits": content.splits(con, held, corpus["corpus_id"], default=False),
            "gold_labels": content.gold_labels(con, held, corpus["corpus_id"], default=True),
            "other_gold_labels": content.gold_labels(con, held, corpus["corpus_id"], default=False),
            "examples": [example for example in every if example.about.corpus_id == corpus["corpus_id"]],
            "datasheet": _answers(sheets.get(corpus["corpus_id"], {})),
            "parts": parts_of_corpus(warehouse, corpus["corpus_id"]),
        }
        for corpus in content.corpora(held)
    ]


def _columns(warehouse: Warehouse) -> dict[str, list[str]]:
    """Return the columns of the views of charts, by view: of all at once, as a query for each would take as long."""
    return dict(warehouse.con.execute(_COLUMNS, [BI]).fetchall())


def _answers(sheet: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Return the questions of a datasheet with their answers, those that are answered."""
    answers = [(question, sheet.get(name)) for name, question in QUESTIONS.items()]
    return [(question, [answer] if isinstance(answer, str) else list(answer)) for question, answer in answers if answer]


def _about(declared: Iterable[DeclaredDashboard], corpus_id: str) -> str:
    """Return the description of a corpus by its dashboard; empty if it has none."""
    return " ".join(file.dashboard.description.strip() for file in declared if file.folder == corpus_id)
