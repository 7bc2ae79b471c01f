"""All that the pages say of a warehouse: its charts, examples and tables, of the whole and corpus by corpus."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from talkhouse.charts.declarations import DeclaredDashboard, dashboards, metrics
from talkhouse.charts.view_cache import ViewCache, often_asked
from talkhouse.charts.words import FilledHeadline, fill
from talkhouse.citation.formats import bibtex, bibtex_of
from talkhouse.citation.work import software
from talkhouse.explore import data_dictionary
from talkhouse.queries.catalogue import BI
from talkhouse.queries.files import Files
from talkhouse.query.terms import parts_of_corpus
from talkhouse.report import content
from talkhouse.report.dialogue_examples import examples, label_counts, places
from talkhouse.report.figures import Figure, figures
from talkhouse.warehouse.build_facts import QUESTIONS, datasheets
from talkhouse.warehouse.opened import Warehouse, fits_views

TEMPLATES = Path(__file__).with_name("templates")
"""The folder of what shows it."""

_OVERVIEW = "overview"
"""The dashboard whose charts open the report; its tables are sections of their own here."""

_COLUMNS = """
select table_name, list(column_name order by column_index) from duckdb_columns()
where schema_name = ? and database_name = current_database() group by table_name
"""


def describe(warehouse: Warehouse, on_chart: Callable[[int], None], *, is_accepted: bool = False) -> dict[str, Any]:
    """Return what the pages show, by the names that their templates use.

    ``on_chart`` is called with 1 for each chart whose rows are there, which takes nearly all of the time.
    ``is_accepted``: whether texts are shown whose terms require more than attribution.
    """
    con, files = warehouse.con, warehouse.query_files
    there = {BI, *warehouse.corpus_ids}
    declared = [file for file in dashboards(files) if file.folder in there]
    with fits_views("the report"), closing(_held(warehouse)) as held:
        build = content.build(con)
        sentences = {file.name: list(_headlines(held, file, files)) for file in declared}
        shown = _figures(warehouse, held, declared, on_chart)
        corpora = _corpora(warehouse, held, declared, sentences, shown, is_accepted=is_accepted)
        return {
            "build": build,
            "software": software(build).sentence,
            "software_bibtex": bibtex([software(build)]),
            "headlines": [one for file in declared if file.folder == BI for one in sentences[file.name]],
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
            "exceptions": content.exceptions(con),
            "tables": data_dictionary.tables(),
            "views": data_dictionary.views(con, warehouse.catalogue.views),
            "schemes": content.schemes(con).values(),
        }


def _held(warehouse: Warehouse) -> ViewCache:
    """Hold the views that are asked more than once: several dashboards and sections ask them."""
    files = warehouse.query_files
    boards = [file.dashboard for file in dashboards(files)]  # a chart has the colours of filters of any of them
    often = often_asked(boards, metrics(files), _columns(warehouse), content.QUERIES)
    return ViewCache(lambda: nullcontext(warehouse.con), f"{warehouse.database}_held", often)


def _headlines(held: ViewCache, declared: DeclaredDashboard, files: Files) -> Iterator[FilledHeadline]:
    """Yield the sentences of a dashboard that have something to say."""
    for headline in declared.dashboard.headlines:
        if sentence := fill(held.rows, headline, files):
            yield sentence


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
        folder: [replace(one, number=next(numbers)) if one.drawing else one for one in of_folder]
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
    said = [one for of_file in sentences.values() for one in of_file]
    every = examples(warehouse, said, labels, is_accepted=is_accepted)
    given = label_counts(con, labels)
    return [
        {
            **corpus,
            "bibtex": cited[corpus["corpus_id"]],
            "about": _about(declared, corpus["corpus_id"]),
            "headlines": [
                one for file in declared if file.folder == corpus["corpus_id"] for one in sentences[file.name]
            ],
            "figures": shown[corpus["corpus_id"]],
            "votes": [one for one in given if one["corpus_id"] == corpus["corpus_id"]],
            "publications": content.publications(con, corpus["corpus_id"]),
            "splits": content.splits(con, held, corpus["corpus_id"], default=True),
            "other_splits": content.splits(con, held, corpus["corpus_id"], default=False),
            "gold_labels": content.gold_labels(con, held, corpus["corpus_id"], default=True),
            "other_gold_labels": content.gold_labels(con, held, corpus["corpus_id"], default=False),
            "examples": [one for one in every if one.about.corpus_id == corpus["corpus_id"]],
            "datasheet": _answers(sheets.get(corpus["corpus_id"], {})),
            "parts": parts_of_corpus(warehouse, corpus["corpus_id"]),
        }
        for corpus in content.corpora(held)
    ]


def _columns(warehouse: Warehouse) -> dict[str, list[str]]:
    """Return the columns of the views of charts, by view: of all at once, for to ask for each takes as long."""
    return dict(warehouse.con.execute(_COLUMNS, [BI]).fetchall())


def _answers(sheet: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Return the questions of a datasheet with their answers, those that are answered."""
    answers = [(question, sheet.get(name)) for name, question in QUESTIONS.items()]
    return [(question, [said] if isinstance(said, str) else list(said)) for question, said in answers if said]


def _about(declared: Iterable[DeclaredDashboard], corpus_id: str) -> str:
    """Return what the dashboard of a corpus says of it; empty where it has none."""
    return " ".join(file.dashboard.description.strip() for file in declared if file.folder == corpus_id)
