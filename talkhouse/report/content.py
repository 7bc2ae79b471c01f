"""The contents of the page in addition to its charts: the build, corpora, splits, agreement, findings, checks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from talkhouse import queries
from talkhouse.charts.declared import NumberFormat
from talkhouse.charts.view_cache import ViewCache
from talkhouse.dialogues.schemes import LabelScheme, schemes_of, schemes_sql
from talkhouse.overlap.overlap_file import KINDS, path_to_read
from talkhouse.overlap.read import OverlapSummary, read, sentences
from talkhouse.report.figures import ReportTable, of_rows, table
from talkhouse.schema.errors import TalkhouseError
from talkhouse.schema.sql import dicts, identifier
from talkhouse.schema.sql_files import sql_of
from talkhouse.warehouse.build_facts import fingerprint
from talkhouse.warehouse.opened import Warehouse

_INTEGER, _DECIMAL, _PRECISE, _PERCENT = (
    NumberFormat.INTEGER,
    NumberFormat.DECIMAL,
    NumberFormat.PRECISE,
    NumberFormat.PERCENT,
)

_CORPORA = "select * from bi.corpora order by corpus_id"

_OF_VIEWS = ("corpus_sizes", "task_splits", *(2 * ("splits", "split_labels")), "agreement", "subset_agreement")

QUERIES = (_CORPORA, *(sql_of(__file__, name) for name in (*_OF_VIEWS, "not_compared")))
"""Queries of views that charts or other sections query, too; those of splits and labels, for each corpus."""

_CHECKS = "select condition, severity, offending from meta.checks order by offending = 0, severity, check_name"

_EXCEPTIONS = "select corpus_id, check_name, scope, reason from meta.exceptions order by all"

_AGREEMENT_HEADS: dict[str, tuple[str, NumberFormat | None]] = {
    "scheme": ("Scheme", None),
    "release": ("Publisher's release", None),
    "target": ("Of a", None),
    "unit_count": ("Units", _INTEGER),
    "rating_count": ("Labels", _INTEGER),
    "annotators": ("Annotators", None),
    "mean_majority_share": ("Share of the majority", _PERCENT),
    "krippendorff_alpha": ("Krippendorff's alpha", _PRECISE),
    "interval": ("95 % interval", None),
    "subsets": ("By subset", None),
    "krippendorff_alpha_ordinal": ("Ordinal alpha", _PRECISE),
    "reading": ("What it allows", None),
    "fleiss_kappa": ("Fleiss' kappa", _DECIMAL),
}
_IN_SHORT = (
    "scheme",
    "release",
    "unit_count",
    "krippendorff_alpha",
    "interval",
    "subsets",
    "krippendorff_alpha_ordinal",
    "reading",
)


def build(con: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Return the build, and the number, size (bytes) and hash of the files that it read."""
    (found,) = dicts(con.execute(sql_of(__file__, "last_build")))
    return found


def corpora(held: ViewCache) -> list[dict[str, Any]]:
    """Return the corpora with their counts, licences and citations."""
    return held.rows(_CORPORA).to_dicts()


def files(con: duckdb.DuckDBPyConnection) -> ReportTable:
    """Count the files and records of each corpus by outcome."""
    counts = dict.fromkeys(("Files", "Records", "Loaded", "In quarantine"), _INTEGER)
    return table(con, sql_of(__file__, "file_counts"), {"Corpus": None, "Kind": None, **counts})


def sizes(con: duckdb.DuckDBPyConnection, held: ViewCache) -> ReportTable:
    """Return the corpora with their sizes; a dialogue and a turn count once."""
    counts = dict.fromkeys(("Dialogues", "Turns", "Labels", "Examples"), _INTEGER)
    return table(
        con, held.sql(sql_of(__file__, "corpus_sizes")), {"Corpus": None, "Licence": None, "Languages": None, **counts}
    )


def tasks(con: duckdb.DuckDBPyConnection, held: ViewCache) -> ReportTable:
    """Return the tasks with the examples of each split of the default publication."""
    return table(
        con,
        held.sql(sql_of(__file__, "task_splits")),
        dict.fromkeys(("Corpus", "Task", "Publisher's release", "Examples")),
    )


def publications(con: duckdb.DuckDBPyConnection, corpus_id: str) -> ReportTable:
    """Return the publisher's releases of a corpus: the number of dialogues of each, and of those by default."""
    heads = {"Publication": None, "Publisher's release": None, "Dialogues": _INTEGER, "Counted in charts": _INTEGER}
    return table(con, sql_of(__file__, "publications"), {**heads, "What it is": None}, corpus=corpus_id)


def splits(con: duckdb.DuckDBPyConnection, held: ViewCache, corpus_id: str, *, default: bool) -> ReportTable:
    """Count the examples of each split of the tasks of a corpus: of default publications, or of the others."""
    heads = {"Task": None, "Publisher's release": None, "Split": None, "Standard split": None}
    counts = dict.fromkeys(("Examples", "Dialogues", "Their turns"), _INTEGER)
    return table(
        con,
        held.sql(sql_of(__file__, "splits")),
        {**heads, **counts},
        "bi.split_publications",
        corpus=corpus_id,
        default=default,
    )


def gold_labels(con: duckdb.DuckDBPyConnection, held: ViewCache, corpus_id: str, *, default: bool) -> ReportTable:
    """Count the examples of a corpus that have each gold label: of default publications, or of the others."""
    heads = {
        "Task": None,
        "Publisher's release": None,
        "Split": None,
        "Label": None,
        "Meaning": None,
        "Examples": _INTEGER,
    }
    return table(
        con, held.sql(sql_of(__file__, "split_labels")), heads, "bi.example_labels", corpus=corpus_id, default=default
    )


def agreement(held: ViewCache) -> dict[str, ReportTable]:
    """Return the agreement of annotators: in short and in full on each unit once, and in each publisher's release."""
    rows = held.rows(sql_of(__file__, "agreement")).to_dicts()
    counted = [row for row in rows if row["is_default"]]
    short = {name: _AGREEMENT_HEADS[name] for name in _IN_SHORT}
    return {
        "short": of_rows([row for row in counted if row["krippendorff_alpha"] is not None], short),
        "full": of_rows(counted, _AGREEMENT_HEADS),
        "releases": of_rows([row for row in rows if not row["is_default"]], _AGREEMENT_HEADS),
    }


def agreement_by_subset(con: duckdb.DuckDBPyConnection, held: ViewCache) -> ReportTable:
    """Return the agreement of the annotators of each published file or folder."""
    heads = {
        "Scheme": None,
        "Publisher's release": None,
        "Split": None,
        "Subset": None,
        "Units": _INTEGER,
        "Labels": _INTEGER,
    }
    measures = {"Share of the majority": _PERCENT, "Krippendorff's alpha": _PRECISE}
    return table(con, held.sql(sql_of(__file__, "subset_agreement")), {**heads, **measures}, "bi.subset_agreement")


def not_compared(con: duckdb.DuckDBPyConnection, held: ViewCache) -> ReportTable:
    """Return the schemes without figures on agreement, with the reasons."""
    heads = {"Scheme": None, "Kind": None, "Why not": None, "Units": _INTEGER, "Labels": _INTEGER}
    return table(con, held.sql(sql_of(__file__, "not_compared")), heads, "bi.schemes")


def findings(con: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return the rules that have findings, with the first of these, the most severe first."""
    return dicts(con.execute(queries.of_command("findings_by_rule")))


def checks(con: duckdb.DuckDBPyConnection) -> ReportTable:
    """Return the results of the build's checks, those with findings first."""
    return table(con, _CHECKS, {"What should be true": None, "Severity": None, "Offending rows": _INTEGER})


def exceptions(con: duckdb.DuckDBPyConnection) -> ReportTable:
    """Return the exceptions that corpora declare, which no check reports."""
    return table(con, _EXCEPTIONS, dict.fromkeys(("Corpus", "Check", "About", "Reason")))


_OVERLAP_HEADS: dict[str, tuple[str, NumberFormat | None]] = {
    "unit": ("What", None),
    "place": ("Of", None),
    "other_place": ("Stands in", None),
    "units": ("In all", _INTEGER),
    "affected": ("Evidence", _INTEGER),
    "share": ("Share", _PERCENT),
    **{kind: (kind.title(), _INTEGER) for kind in KINDS},
    "phrases": ("Phrases", _INTEGER),
}


@dataclass(frozen=True)
class Overlap:
    """The overlap, from the file next to the warehouse."""

    missing: str = ""
    """The reason why there is nothing to show; empty if there is something."""
    found: OverlapSummary | None = None
    sentences: Sequence[str] = ()
    matrix: ReportTable | None = None


def overlap(warehouse: Warehouse) -> Overlap:
    """Return the contents of the file next to a warehouse, the most affected places first; it is not computed here."""
    path = path_to_read(warehouse.path)
    if not path.exists():
        return Overlap("It was not computed. Run talkhouse overlap, and write the report again.")
    try:
        found = read(path)
    except TalkhouseError as error:
        return Overlap(f"{path.name} next to the warehouse is not used: {error.what}.")
    if found.fingerprint != fingerprint(warehouse.con, identifier(warehouse.database)):
        return Overlap(
            f"{path.name} belongs to another state of the warehouse, or to another one, and is not used; "
            "talkhouse overlap computes it again."
        )
    rows = [
        {
            **row,
            "unit": row["unit"] if row["unit"] == row["other_unit"] else f"{row['unit']}, as {row['other_unit']}",
            "other_place": "itself, again" if row["place"] == row["other_place"] else row["other_place"],
            "share": row["affected"] / row["units"],
        }
        for row in found.matrix
        if row["affected"] and row["units"]
    ]
    rows.sort(key=lambda row: -row["affected"])
    return Overlap(found=found, sentences=sentences(found), matrix=of_rows(rows, _OVERLAP_HEADS))


def schemes(con: duckdb.DuckDBPyConnection) -> dict[str, LabelScheme]:
    """Return the annotation schemes, by name."""
    return dict(sorted(schemes_of(con.execute(schemes_sql()).fetchall()).items()))
