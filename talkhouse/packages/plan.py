"""Plans a package: which views and splits of a corpus are in it, under which names, and with which classes."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import duckdb

from talkhouse.export.composition import composition, corpora_of, warnings
from talkhouse.export.pseudonyms import Pseudonyms, with_pseudonyms
from talkhouse.export.selection import NO_FILTERS, Filters, Selection, select
from talkhouse.export.terms import parts_of
from talkhouse.ingest.contract.definition import STANDARD_SPLITS
from talkhouse.packages.content import Classes, ClassLabel, Config, ExportPackage, SplitRows, has_splits
from talkhouse.queries.heads import ScoreQuery, ViewQuery
from talkhouse.schema.errors import NothingLeft, UsageError, closest
from talkhouse.schema.sql import identifier, literal
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.relations import relation, relations

_NAME = re.compile(r"\w+(\.\w+)*")
"""What ``datasets`` takes for a split, and every file system for a file."""

_WHOLE = "all"
"""The split of rows that have none."""

_NO_RELEASE = "unnamed"
"""What stands for a release without a name in the name of its configuration."""


def plan(
    warehouse: Warehouse,
    name: str,
    filters: Filters = NO_FILTERS,
    pseudonyms: Pseudonyms | None = None,
    *,
    reserved: Mapping[str, str] = {},
) -> ExportPackage:
    """Plan the package of a corpus, which has all of its task views, or of one view or table.

    ``reserved``: names that no split may have, in lower case, each with the name in its place. Raises UsageError for
    names that are none, rows that are not there, splits that would have one name, and labels that nothing declares.
    """
    names = _relations(warehouse, name)
    planned = _configs(warehouse, names, filters, pseudonyms, reserved)
    configs = tuple(config for of_view in planned.values() for config in of_view)
    _check_names(configs)
    if not configs:
        raise UsageError(
            f"there are no rows of {name} to export",
            expected="a corpus, view or table with rows",
            next_step="see what is there with: talkhouse status",
        )
    selections = [config.selection for config in configs]
    return ExportPackage(
        warehouse,
        name,
        configs,
        corpora_in(warehouse, selections),
        parts_of(warehouse, selections),
        pseudonyms.fingerprint if pseudonyms else None,
        left_out=tuple(full_name for full_name, of_view in planned.items() if not of_view),
    )


def file_name(name: str) -> str:
    """Return a name as files, loaders and configurations can have it: with ``_`` for each run of what they can't."""
    if _NAME.fullmatch(name):
        return name
    plain = re.sub(r"[^\w.]+", "_", name)
    return plain if _NAME.fullmatch(plain) else re.sub(r"\W+", "_", name) or "_"


def _relations(warehouse: Warehouse, name: str) -> list[str]:
    """Return the full names of the views of a package; UsageError for a name that is neither a corpus nor a view."""
    if name not in warehouse.corpus_ids:
        known = [f"{each['schema']}.{each['name']}" for each in relations(warehouse.con)]
        if name not in known and f"main.{name}" not in known:
            near = closest(name, [*warehouse.corpus_ids, *known])
            raise UsageError(
                f"no corpus, view or table '{name}'",
                # Hundreds of views that are nothing alike are no help.
                expected=f"one of: {', '.join(near if len(near) < len(known) else warehouse.corpus_ids)}",
                next_step="list the corpora with: talkhouse status, and the views with: talkhouse views",
            )
        return [name]
    tasks = sorted({each.full_name for each in warehouse.catalogue.examples if each.schema == name})
    if not tasks:
        own = [f"{each['schema']}.{each['name']}" for each in relations(warehouse.con) if each["schema"] == name]
        raise UsageError(
            f"the corpus {name} has no tasks",
            expected="a corpus with task views, or a view",
            next_step=f"name one of its views or tables, such as {[*own, 'main.turns'][0]}",
        )
    return tasks


def _configs(
    warehouse: Warehouse,
    names: Sequence[str],
    filters: Filters,
    pseudonyms: Pseudonyms | None,
    reserved: Mapping[str, str],
) -> dict[str, list[Config]]:
    """Plan views, but for those without rows, or emptied by filters that leave rows of others."""
    planned, nothing = dict[str, list[Config]](), list[NothingLeft]()
    for name in names:
        try:
            selection = select(warehouse, name, filters)
        except NothingLeft as error:
            planned[name] = []
            nothing.append(error)
            continue
        parts = _by_release(warehouse, selection)
        configs = [config_of(warehouse, part.name, part.selection, part.remark, pseudonyms, reserved) for part in parts]
        planned[name] = [config for config in configs if config]
    if nothing and not any(planned.values()):
        raise nothing[0]
    return planned


class _Part(NamedTuple):
    """The rows of a configuration: those selected of a view, or those of one release among them."""

    name: str
    selection: Selection
    remark: str = ""


_DEFAULT = "Each example once: of the first of the publisher's releases that has its dialogue."


def _by_release(warehouse: Warehouse, selection: Selection) -> Iterator[_Part]:
    """Yield what is selected; of a task that several releases have: each example once, then every release whole."""
    releases = dict[str | None, bool]()
    if {"release", "is_default"} <= {*selection.known} and warehouse.view_file(selection.full_name):
        rows = selection.rows(["release", "is_default"])
        query = f"select release, bool_and(is_default) from ({rows}) group by release order by release nulls first"
        releases = dict(warehouse.con.execute(query).fetchall())
    if len(releases) < 2 or all(releases.values()):
        yield _Part(selection.name, selection)
        return
    yield _Part(selection.name, selection.narrowed("is_default"), _DEFAULT)
    for release in releases:
        where = f"release is not distinct from {literal(release) if release is not None else 'null'}"
        remark = "What has no release." if release is None else f"The publisher's release {release}."
        yield _Part(f"{selection.name}_{release or _NO_RELEASE}", selection.narrowed(where), remark)


def _check_names(configs: Sequence[Config]) -> None:
    """Raise UsageError for two configurations of one name, which would share a folder."""
    for index, config in enumerate(configs):
        for other in configs[:index]:
            if other.name.lower() == config.name.lower():
                raise UsageError(
                    f"two configurations would both be named '{config.name}'",
                    found=" and ".join(f"{each.selection.full_name}: {each.comment}" for each in (other, config)),
                    next_step="export them apart, with --release or by the name of a view",
                )


def config_of(
    warehouse: Warehouse,
    name: str,
    selection: Selection,
    remark: str = "",
    pseudonyms: Pseudonyms | None = None,
    reserved: Mapping[str, str] = {},
) -> Config | None:
    """Return the plan of one configuration, or None if it has no rows."""
    if pseudonyms:
        selection = with_pseudonyms(selection, warehouse, pseudonyms)
    view, columns = warehouse.view_file(selection.full_name), _class_columns(warehouse, selection)
    counted = _counted(warehouse.con, selection, [column.occurring for column in columns])
    if not counted:
        return None
    values = {
        column.column: {value for row in counted for value in row["values"][index] or () if value is not None}
        for index, column in enumerate(columns)
    }
    of = composition(warehouse, selection)
    return Config(
        file_name(name),
        selection,
        " ".join(filter(None, [relation(warehouse.con, selection.full_name)["comment"], remark])),
        _splits(selection, counted, reserved),
        _classes(warehouse, selection, columns, values),
        of,
        tuple(warnings(warehouse, selection, of)),
        view.task_category if view else None,
    )


def _counted(con: duckdb.DuckDBPyConnection, selection: Selection, values: Sequence[str]) -> list[dict[str, Any]]:
    """Count the rows of each split by one query, which also tells the values of columns of classes."""
    split = "split" if has_splits(selection) else "null::varchar"
    standard = "standard_split" if "standard_split" in selection.known else "null::varchar"
    query = (
        f"select {split} as split, if(count(distinct coalesce({standard}, '')) = 1, "
        f"any_value({standard}), null) as standard, count(*) as rows, [{', '.join(values)}] as occurring "
        f"from ({selection.rows(selection.known)}) group by 1"
    )
    rows = con.execute(query).fetchall()
    return [dict(zip(("split", "standard", "rows", "values"), row, strict=True)) for row in rows]


def _splits(
    selection: Selection, counted: Iterable[Mapping[str, Any]], reserved: Mapping[str, str]
) -> tuple[SplitRows, ...]:
    """Return the splits, named and in order; UsageError where two would have one name."""
    splits = []
    for row in counted:
        published = row["split"]
        name = file_name(_WHOLE if published is None else published)
        standard = row["standard"] or (published if published in STANDARD_SPLITS else None)
        splits.append(SplitRows(published, reserved.get(name.lower(), name), standard, row["rows"]))
    splits.sort(key=lambda split: (_rank(split.standard), split.published is None, split.published or ""))
    for index, split in enumerate(splits):
        if same := [other for other in splits[:index] if other.name == split.name]:
            raise _meeting(selection, same[0], split)
    return tuple(splits)


def _rank(standard: str | None) -> int:
    return STANDARD_SPLITS.index(standard) if standard in STANDARD_SPLITS else len(STANDARD_SPLITS)


def _meeting(selection: Selection, split: SplitRows, other: SplitRows) -> UsageError:
    names = ["the rows without a split" if each.published is None else f"'{each.published}'" for each in (split, other)]
    return UsageError(
        f"two splits would both be named '{split.name}': {names[0]} and {names[1]}",
        where=selection.full_name,
        next_step="export them apart, with --split or --where",
    )


def corpora_in(warehouse: Warehouse, selections: Iterable[Selection]) -> list[dict[str, Any]]:
    """Return the corpora whose rows are selected."""
    ids = {corpus["corpus_id"] for selection in selections for corpus in corpora_of(warehouse, selection)}
    return [corpus for corpus in warehouse.corpora if corpus["corpus_id"] in ids]


_SHOWN = 5
"""Values without a name that a message shows."""


class ClassColumn(NamedTuple):
    """A column of classes, as the head of its view or of its task's score declares it."""

    column: str
    is_list: bool
    scheme: str | None
    labels: tuple[ClassLabel, ...]
    """Where no scheme has them; none: those that occur."""

    @property
    def occurring(self) -> str:
        """The SQL aggregate of the values that occur, as a list of texts; null where there are none."""
        name = identifier(self.column)
        if self.is_list:
            return f"list_distinct(flatten(list(distinct {name}::varchar[])))"
        return f"list(distinct {name}::varchar)"


def _class_columns(warehouse: Warehouse, selection: Selection) -> tuple[ClassColumn, ...]:
    """Return the selected columns that have classes, in their order."""
    view = warehouse.view_file(selection.full_name)
    if view is None:
        return ()
    score = next((score for score in warehouse.catalogue.scores if score.full_name == view.full_name), None)
    is_list = {column["name"]: column["type"].endswith("[]") for column in selection.columns}
    declared = {column.column: column for column in _declared(view, score, is_list)}
    return tuple(declared[name] for name in is_list if name in declared)


def _declared(view: ViewQuery, score: ScoreQuery | None, is_list: Mapping[str, bool]) -> Iterator[ClassColumn]:
    """Yield the columns that a head declares, of those that are known, with the scheme or the labels of each."""
    if view.label_column and view.label_column in is_list:
        scheme = view.scheme or (score.scheme if score else None)
        bare = score.labels if score and not scheme else ()
        labels = tuple(ClassLabel(label, view.label_meanings.get(label)) for label in bare)
        yield ClassColumn(view.label_column, is_list[view.label_column], scheme, labels)
    for column, names in view.other_classes.items():
        is_scheme = len(names) == 1 and "." in names[0]
        scheme, labels = (names[0], ()) if is_scheme else (None, tuple(map(ClassLabel, names)))
        if column in is_list:
            yield ClassColumn(column, is_list[column], scheme, labels)


def _classes(
    warehouse: Warehouse, selection: Selection, columns: Iterable[ClassColumn], values: Mapping[str, set[str]]
) -> tuple[Classes, ...]:
    """Return the classes of these columns; UsageError for a value that has no name among them.

    ``values``: by column those that occur in the selected rows.
    """
    classes = []
    for column in columns:
        labels = _labels(warehouse, selection, column)
        names = {label.label for label in labels}
        if unnamed := sorted(values[column.column] - names):
            raise UsageError(
                f"'{column.column}' has values that are not among its labels",
                where=selection.full_name,
                expected=f"one of: {', '.join(label.label for label in labels)}",
                found=", ".join(f"'{value}'" for value in unnamed[:_SHOWN]),
                next_step=f"declare them in {column.scheme or 'the head of the task'}, or leave them out with --where",
            )
        classes.append(Classes(column.column, column.is_list, labels, column.scheme))
    return tuple(classes)


def _labels(warehouse: Warehouse, selection: Selection, column: ClassColumn) -> tuple[ClassLabel, ...]:
    if column.scheme:
        query = "select label, meaning from main.labels where scheme = ? order by label_index nulls last, label"
        rows = warehouse.con.execute(query, [column.scheme]).fetchall()
        return tuple(ClassLabel(label, meaning) for label, meaning in rows)
    if column.labels:
        return column.labels
    # Of all rows, so that a number means the same whichever of them are wanted.
    ((occurring,),) = warehouse.con.execute(f"select {column.occurring} from {selection.source}").fetchall()
    return tuple(ClassLabel(label) for label in sorted(value for value in occurring or () if value is not None))
