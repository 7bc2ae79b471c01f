"""Writes the file that Superset imports: the connection, a dataset for each view of ``bi``, and the dashboards."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import duckdb
import yaml
from msgspec import structs

from talkhouse.charts.declarations import DeclaredDashboard, Metrics, dashboards, metrics
from talkhouse.charts.declared import ROW_COUNT, ROWS, Filter, Metric
from talkhouse.charts.fields import NUMBERS, frame, title
from talkhouse.charts.query import chart_sql, check_metric, filter_sql, sql_of_chart, sql_of_filter, worth_drawing
from talkhouse.charts.questions import is_of_one_dialogue
from talkhouse.charts.words import headlines
from talkhouse.queries.catalogue import BI
from talkhouse.queries.files import Files
from talkhouse.schema.errors import UsageError
from talkhouse.schema.warehouse import check_name
from talkhouse.superset.dashboards import VERSION, chart, colours, counted_once, dashboard, identity, text
from talkhouse.system.atomic_output import atomic_file, check_free
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.relations import columns_of_each, relations

_FOLDER = "talkhouse"
"""The folder in the archive that holds everything; Superset does not look at its name."""

_ABSENT = """
select schema_name from duckdb_schemas() where database_name = current_database() and schema_name <> 'bi'
except
select corpus_id from main.corpora
"""
"""Schemas of corpora that the warehouse does not hold, and those that are of no corpus."""


@dataclass(frozen=True)
class Bundle:
    """A written file, with its contents."""

    path: Path
    db_path: PurePosixPath
    dashboards: tuple[str, ...]
    """Their titles."""
    chart_count: int
    dataset_count: int
    bytes: int


def write_bundle(
    con: duckdb.DuckDBPyConnection, output: Path, db_path: PurePosixPath, *, force: bool = False
) -> Bundle:
    """Write the dashboards of a warehouse to a zip archive; the same warehouse makes the same bytes.

    ``db_path`` is the warehouse's absolute path on the machine where Superset runs; ``force`` replaces an existing
    file. Views and dashboards of corpora that the warehouse does not hold are left out.

    Raises UsageError for a path that can't be, CatalogueError for a declaration that does not fit the views.
    """
    if output.suffix.lower() != ".zip":
        raise UsageError(
            "Superset imports a zip archive", where=output, next_step=f"name it {output.with_suffix('.zip').name}"
        )
    check_free(con, [output], force=force)
    _check_db_path(con, db_path)
    declared = Warehouse(con).query_files
    known = metrics(declared)
    absent = {schema for (schema,) in con.execute(_ABSENT).fetchall()}
    views = _views(con, absent)
    present = [file for file in dashboards(declared) if file.folder not in absent]
    _check_declared(con, present, known, views, declared)
    wanted = [_with_choices(con, file, declared) for file in present]
    built = _built(con)
    files = {
        # Without a type, so that Superset's import of dashboards and that of assets both take it.
        "metadata.yaml": {"version": VERSION, "timestamp": built.isoformat() if built else None},
        f"databases/{_FOLDER}.yaml": database(db_path),
        **dict(_describe(con, wanted, known, views, declared, database_name(db_path))),
    }
    with atomic_file(output) as part:
        _write(part, files)
        size = part.stat().st_size
    charts = sum(len(file.dashboard.charts) for file in wanted)
    return Bundle(output, db_path, tuple(file.dashboard.title for file in wanted), charts, len(views), size)


def _views(con: duckdb.DuckDBPyConnection, absent: set[str]) -> dict[str, str]:
    """Return the comments of the views of ``bi``, but for those of absent corpora (``bi.<corpus>_<name>``)."""
    known = relations(con)
    schemas = {view["schema"] for view in known}

    def owner(view: str) -> str:
        return max((schema for schema in schemas if view.startswith(f"{schema}_")), key=len, default=BI)

    of_bi = {view["name"]: view["comment"] for view in known if view["schema"] == BI}
    return {name: comment for name, comment in of_bi.items() if owner(name) not in absent}


def _with_choices(con: duckdb.DuckDBPyConnection, file: DeclaredDashboard, files: Files) -> DeclaredDashboard:
    """Return a dashboard with the charts worth drawing, and the filters that have a value.

    Of a filter without one, Superset would offer to choose null.
    """

    def offers(choice: Filter) -> bool:
        with sql_of_filter(choice, files):
            return bool(con.execute(filter_sql(choice, 1)).fetchall())

    charts = worth_drawing(partial(frame, con), file.dashboard.charts)
    shown = structs.replace(file.dashboard, filters=tuple(filter(offers, file.dashboard.filters)), charts=charts)
    return structs.replace(file, dashboard=shown)


def _describe(
    con: duckdb.DuckDBPyConnection,
    wanted: Iterable[DeclaredDashboard],
    known: Metrics,
    views: Mapping[str, str],
    files: Files,
    name: str,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield path and content of every dataset, chart and dashboard; ``name`` is that of the connection."""
    every = columns_of_each(con)
    columns = {view: every[BI, view] for view in views}
    names = {view: [column["name"] for column in of_view] for view, of_view in columns.items()}
    built = _built(con)
    for view, comment in views.items():
        yield f"datasets/{_FOLDER}/{view}.yaml", dataset(view, comment, columns[view], known.get(view, {}), name)
    for file in wanted:
        shown = file.dashboard
        once = counted_once(shown.charts, names)
        for number, declared in enumerate(shown.charts, start=1):
            of_view = known.get(declared.view, {})
            described = chart(declared, file.name, of_view, name, is_counted_once=declared in once)
            yield f"charts/{file.name}_{number:02}.yaml", described
        above = text(shown.description, headlines(con, file, files), built, is_counted_once=bool(once))
        of_series = colours(partial(frame, con), shown.charts, known, files)
        yield f"dashboards/{file.name}.yaml", dashboard(shown, file.name, above, names, of_series, name)


def _check_db_path(con: duckdb.DuckDBPyConnection, path: PurePosixPath) -> None:
    if not path.is_absolute() or "?" in str(path):
        raise UsageError(
            "Superset can't open a warehouse by this path",
            where=path,
            expected="an absolute path on the machine where Superset runs, without a question mark",
            next_step="name it: --db-path /path/on/the/server/talkhouse.duckdb",
        )
    schemas = con.execute("select schema_name from duckdb_schemas() where database_name = current_database()")
    check_name(Path(path), (schema for (schema,) in schemas.fetchall()))


def _check_declared(
    con: duckdb.DuckDBPyConnection,
    wanted: Iterable[DeclaredDashboard],
    known: Metrics,
    views: Iterable[str],
    files: Files,
) -> None:
    """Raise CatalogueError if a chart or metric fails: Superset would report it only when drawing it."""
    for view in views:
        for name, metric in known.get(view, {}).items():
            check_metric(con.execute, view, name, metric, files)
    for file in wanted:
        for declared in file.dashboard.charts:
            with sql_of_chart(con.execute, declared, files):
                con.execute(f"describe {chart_sql(declared, known.get(declared.view, {}))}").fetchall()


def _built(con: duckdb.DuckDBPyConnection) -> datetime | None:
    """Return the time at which the last build ended."""
    ((built,),) = con.execute("select max(finished_at) from meta.loads").fetchall()
    found: datetime | None = built
    return found


def _write(path: Path, files: Mapping[str, Any]) -> None:
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            text = yaml.dump(content, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=120)
            # Without a time of its own, an entry would have the time at which it was written.
            entry = ZipInfo(f"{_FOLDER}/{name}", (1980, 1, 1, 0, 0, 0))
            entry.compress_type = ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text)


def dataset(
    view: str, comment: str, columns: Sequence[Mapping[str, Any]], metrics: Mapping[str, Metric], database: str
) -> dict[str, Any]:
    """Describe a view of ``bi``; ``comment`` is the view's own, ``database`` the name of the connection."""
    times = [column["name"] for column in columns if column["type"] == "TIMESTAMP"]
    titles = _titles([column["name"] for column in columns], metrics)
    return {
        "table_name": view,
        "main_dttm_col": times[0] if times else None,
        "description": comment,
        # The catalog is the file's name: without one, Superset takes that of the connection, whatever the file's name.
        "catalog": None,
        "schema": BI,
        "sql": None,
        "params": None,
        "filter_select_enabled": True,
        "uuid": identity(database, "dataset", view),
        "metrics": [_metric(name, metric) for name, metric in {ROW_COUNT: ROWS, **metrics}.items()],
        "columns": [_column(column, titles[column["name"]]) for column in columns],
        "version": VERSION,
        "database_uuid": identity(database, "database"),
    }


def _metric(name: str, metric: Metric) -> dict[str, Any]:
    return {
        "metric_name": name,
        "verbose_name": metric.title,
        "metric_type": None,
        "expression": metric.sql,
        "description": metric.description or None,
        "d3format": NUMBERS[metric.format].d3,
        "warning_text": None,
    }


def _titles(columns: Sequence[str], metrics: Mapping[str, Metric]) -> dict[str, str]:
    """Return the title of each column; Superset stores one title for a column and a metric of the same name."""
    titles: dict[str, str] = {}
    for column in columns:
        wanted = metrics[column].title if column in metrics else title(column)
        titles[column] = wanted if wanted not in titles.values() else column.replace("_", " ").capitalize()
    return titles


def _column(column: Mapping[str, Any], shown: str) -> dict[str, Any]:
    return {
        "column_name": column["name"],
        "verbose_name": shown,
        "is_dttm": column["type"] == "TIMESTAMP",
        "is_active": True,
        "type": "DOUBLE PRECISION" if column["type"] == "DOUBLE" else column["type"],
        "groupby": not is_of_one_dialogue(column["name"]),
        "filterable": True,
        "expression": None,
        "description": column["meaning"],
        "python_date_format": None,
    }


_SANDBOX = {
    "read_only": True,
    # Without these two, a query in SQL Lab reads any file that the server's user can read.
    "config": {"enable_external_access": False, "lock_configuration": True},
}


def database_name(path: PurePosixPath) -> str:
    """Name the connection after the file: a bundle of a file of the same name updates it."""
    return "Talkhouse" if path.stem == "talkhouse" else f"Talkhouse {path.stem}"


def database(path: PurePosixPath) -> dict[str, Any]:
    """Describe the connection: read-only, and with no way from SQL to the server's files, network or settings."""
    name = database_name(path)
    return {
        "database_name": name,
        "sqlalchemy_uri": f"duckdb:///{path}",
        "cache_timeout": None,
        "expose_in_sqllab": True,
        "allow_run_async": False,
        "allow_ctas": False,
        "allow_cvas": False,
        "allow_dml": False,
        "allow_csv_upload": False,
        "extra": {"allows_virtual_table_explore": True, "engine_params": {"connect_args": _SANDBOX}},
        "uuid": identity(name, "database"),
        "version": VERSION,
    }
