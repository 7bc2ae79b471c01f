"""The prediction of each example, from a user's files or of a baseline; missing or doubled ones are refused."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import duckdb
from pyarrow import lib as pa

from talkhouse.ingest.files.archives import is_archive_at
from talkhouse.ingest.files.limits import Limits
from talkhouse.ingest.sources import JSON_LINES
from talkhouse.queries.heads import Form, LayoutQuery
from talkhouse.schema.errors import CatalogueError, UsageError
from talkhouse.schema.sql import column_types, literal, quoted
from talkhouse.scores.examples import Examples, choose, create_examples, most_rows
from talkhouse.scores.layouts import apply_layout, load_layout
from talkhouse.scores.options import AUTO, TABLE, Baseline
from talkhouse.scores.task import PredictionColumn, ScoredTask, ScoreRequest
from talkhouse.scores.typed import (
    RawPredictions,
    check_columns,
    check_fingerprint,
    check_values,
    named_splits,
    raw,
    wanted_columns,
    with_types,
)
from talkhouse.scores.workspace import (
    BadPredictions,
    ScoringTable,
    ScoringWorkspace,
    first_rows,
    head_errors,
    key_text,
    refusal,
    refuse,
    row_text,
)
from talkhouse.system.files import temporary_folder
from talkhouse.user_files import (
    TABLES,
    Reader,
    Rows,
    UserFile,
    check_names,
    copy_files,
    names_of,
    open_tables,
    readable,
    reading,
    select_of,
)


@dataclass(frozen=True)
class Predictions:
    """Each example of what is scored with its prediction."""

    examples: Examples
    table: ScoringTable
    """The keys, the columns that the task declares, and ``is_missing``."""
    missing: int
    files: list[dict[str, str]]
    """Path and SHA-256 of each file; none of a baseline."""
    warnings: list[str]


class _ReadPredictions(NamedTuple):
    files: list[UserFile]
    raw: RawPredictions
    examples: Examples


def read_predictions(workspace: ScoringWorkspace, task: ScoredTask, request: ScoreRequest) -> Predictions:
    """Read predictions or make those of a baseline, check them, and match them with the examples that they are for.

    Raises UsageError where the files can't be read or the names can't be, BadPredictions where rows can't be scored.
    """
    if request.baseline:
        examples = _examples(workspace, task, request)
        files: Sequence[UserFile] = []
        untyped = raw(workspace, create_baseline(workspace, task, examples, request.baseline))
    elif request.table is not None:
        files, untyped = [], raw(workspace, _load_table(workspace, task, request.table, request.limits))
        examples = _examples(workspace, task, request, named_splits(workspace, untyped))
    else:
        files, untyped, examples = _files(workspace, task, request)
    check_columns(task, untyped.types)
    with readable(files):
        typed = with_types(workspace, task, untyped)
    chosen, con = examples.chosen, workspace.con
    check_fingerprint(con, typed, {chosen.fingerprint, *(split.fingerprint for split in chosen.splits)})
    warnings = check_values(con, task, typed, unknown=request.unknown, as_printed=request.as_printed)
    predicted, missing = match(
        workspace,
        task,
        typed,
        untyped.types,
        examples,
        missing="stop" if request.as_printed else request.missing,
        as_printed=request.as_printed,
    )
    workspace.drop([untyped.table, typed])  # they may be large
    named = [{"path": str(file.path), "sha256": file.sha256} for file in files]
    return Predictions(examples, predicted, missing, named, warnings)


def _files(workspace: ScoringWorkspace, task: ScoredTask, request: ScoreRequest) -> _ReadPredictions:
    """Read the files that a user names, as a table or in the layout that they are in."""
    with temporary_folder() as folder:
        files = copy_files(request.paths, folder, request.limits)
        layout = _layout_of(task, request, files[0]) if request.layout == AUTO else task.layout(request.layout)
        if layout is not None and len(files) > 1:
            raise UsageError("this layout is one file or folder", found=f"{len(request.paths)}", next_step="name one")
        too_large = "leave out columns that the task does not need, and score a split at a time"
        with reading(workspace.con, folder, request.limits, "predictions", too_large) as reader:
            if layout is None:
                untyped = raw(workspace, _load(workspace, reader, task, files))
            else:
                source = load_layout(workspace, reader, files[0], layout, most_rows(workspace.con, task))
    if layout is None:
        return _ReadPredictions(files, untyped, _examples(workspace, task, request, named_splits(workspace, untyped)))
    examples = _examples(workspace, task, request)
    laid_out = apply_layout(workspace, files[0], layout, source, examples, most_rows(workspace.con, task))
    workspace.drop([source])
    return _ReadPredictions(files, raw(workspace, laid_out), examples)


def _load(workspace: ScoringWorkspace, reader: Reader, task: ScoredTask, files: Sequence[UserFile]) -> ScoringTable:
    """Create a table of the rows of files; BadPredictions where these can't be predictions of the task."""
    wanted = wanted_columns(task)
    tables = open_tables(reader, files, wanted)
    names = names_of(tables)
    check_columns(task, names)
    most = most_rows(workspace.con, task, by_position="position" in names)
    with readable(files):
        return workspace.load("raw", reader.rows(select_of(reader, tables, wanted)), reader.limits, most)


def _load_table(workspace: ScoringWorkspace, task: ScoredTask, rows: pa.Table, limits: Limits) -> ScoringTable:
    """Create a table of predictions that are at hand; BadPredictions where these can't be predictions of the task."""
    try:
        check_names(rows.schema.names)
        check_columns(task, rows.schema.names)
        wanted = rows.select([name for name in wanted_columns(task) if name in rows.schema.names])
        batches = Rows(wanted.schema, iter(wanted.to_batches()))
        by_position = "position" in wanted.schema.names
        return workspace.load("raw", batches, limits, most_rows(workspace.con, task, by_position=by_position))
    except (duckdb.Error, pa.ArrowException, ValueError) as error:
        raise BadPredictions(
            "the predictions can't be read as a table", found=str(error), next_step="name each column once"
        ) from error


def _examples(
    workspace: ScoringWorkspace,
    task: ScoredTask,
    request: ScoreRequest,
    named: Sequence[tuple[str | None, str | None]] = (),
) -> Examples:
    return create_examples(workspace, task, choose(workspace.con, task, request.filters, named))


def _layout_of(task: ScoredTask, request: ScoreRequest, file: UserFile) -> LayoutQuery | None:
    if file.path.suffix.lower() in TABLES and not (file.is_folder or _is_world_log(file, request.limits)):
        return None
    fitting = [layout for layout in task.layouts if layout.reads == _form(file)]
    if not fitting:
        raise UsageError(
            f"{task.name} has no predictions in the layout of {file.path.name}",
            expected=f"one of: {', '.join([TABLE, *(layout.name for layout in task.layouts)])}",
            next_step="name the layout with --format, or give a table: " + ", ".join(TABLES),
        )
    return fitting[0]


def _is_world_log(file: UserFile, limits: Limits) -> bool:
    """Whether a file of JSON Lines is a log of dialogues and not a table: by its first line."""
    if file.path.suffix.lower() not in JSON_LINES:
        return False
    with file.only.open("rb") as stream:
        return b'"dialog"' in stream.readline(limits.record)


def _form(file: UserFile) -> Form:
    """Return the form of layouts that a file may be read for."""
    if file.is_folder or is_archive_at(file.only):
        return "documents"
    return "score_rows" if file.path.suffix == ".npy" else "lines"


@dataclass(frozen=True)
class _Pairs:
    """Predictions, the keys that they are for, and the condition that joins both."""

    predictions: ScoringTable
    keys: ScoringTable
    on: str
    """SQL over ``predictions`` and ``keys``."""
    by_index: bool
    """Whether they have the number of the example, or else its record, turn and item."""

    def of_keys(self, keys: ScoringTable) -> str:
        """Return the SQL that is true of ``predictions`` for some of these keys."""
        return f"exists (select 1 from {keys} as keys where {self.on})"

    def among(self, workspace: ScoringWorkspace, condition: str) -> "_Pairs":
        """Leave only the predictions for which a condition is true."""
        select = f"select predictions.* from {self.predictions} as predictions where {condition}"
        return replace(self, predictions=workspace.create("among", select))


def match(
    workspace: ScoringWorkspace,
    task: ScoredTask,
    typed: ScoringTable,
    names: Collection[str],
    examples: Examples,
    *,
    missing: str,
    as_printed: bool,
) -> tuple[ScoringTable, int]:
    """Create a table of each key with its prediction; return it, and how many have none.

    ``names``: the columns that the predictions were given with. Raises BadPredictions for missing keys (unless
    ``missing`` is ``wrong``), for others, and for keys given twice.
    """
    by_index = "example_index" in names
    if examples.has_items and not by_index and "item_index" not in names:
        raise BadPredictions(
            "the predictions have no column 'item_index'",
            expected="item_index beside record_id and turn_index: several examples are of one turn",
            next_step=f"start from an empty table: talkhouse score {task.name} --template FILE",
        )
    pairs = _Pairs(typed, examples.keys, _condition(names, by_index=by_index), by_index)
    if examples.chosen.is_part:
        pairs = pairs.among(workspace, f"not {pairs.of_keys(examples.others)}")
    if as_printed:
        pairs = pairs.among(workspace, pairs.of_keys(pairs.keys))
    if "ranking" in names:
        pairs = replace(pairs, predictions=_scored_rankings(workspace, task, pairs))
    columns = ", ".join(f"predictions.{quoted(column.name)}" for column in task.columns)
    predicted = workspace.create(
        "predicted",
        f"select keys.*, {columns}, predictions.rowid is null as is_missing "
        f"from {pairs.keys} as keys left join {pairs.predictions} as predictions on {pairs.on}",
    )
    lost = _check_counts(workspace, pairs, predicted)
    if by_index and "record_id" in names:
        _check_agreement(workspace.con, pairs, [name for name in ("turn_index", "item_index") if name in names])
    if lost and missing == "stop":
        raise _missing(workspace.con, predicted, lost)
    return predicted, lost


def _condition(names: Collection[str], *, by_index: bool) -> str:
    key = "example_index" if by_index else "record_id"
    others = [*(["turn_index", "item_index"] if not by_index else []), "release", "split"]
    return " and ".join(
        [
            f"predictions.{key} = keys.{key}",
            *(f"predictions.{name} is not distinct from keys.{name}" for name in others if name in names),
        ]
    )


def _scored_rankings(workspace: ScoringWorkspace, task: ScoredTask, pairs: _Pairs) -> ScoringTable:
    """Create predictions with scores from rankings: the first has the highest, what is not listed -Infinity."""
    counts = task.query.counts
    if counts is None:
        raise BadPredictions(
            f"{task.name} takes no rankings",
            expected=f"the columns {', '.join(column.name for column in task.columns)}",
            found="a column 'ranking'",
            next_step="give scores",
        )
    with head_errors(task.query, "counts"):
        sizes = workspace.create(
            "sizes",
            f"select keys.*, {counts} as candidates from {pairs.keys} as keys "
            f"inner join {task.view} as gold on gold.example_index = keys.example_index and gold.split = keys.split",
        )
    ranked = workspace.create(
        "ranked",
        "select distinct on (predictions.rowid) predictions.rowid as place, predictions.ranking, keys.candidates, "
        f"{row_text('predictions.')} as row from {pairs.predictions} as predictions inner join {sizes} as keys "
        f"on {pairs.on} where predictions.ranking is not null",
    )
    refuse(
        workspace.con,
        f"select row || ': ' || ranking::varchar from {ranked} where len(list_distinct(ranking)) < len(ranking) "
        "or coalesce(list_min(ranking), 0) < 0 or coalesce(list_max(ranking), 0) >= candidates",
        "rankings with a position twice, null or beyond the candidates",
        expected="0-based positions of candidates, the best first; in a log, texts of candidates",
        next_step="rank each candidate once; those left out count as ranked below all others",
    )
    scores = (
        "list_transform(range(ranked.candidates), lambda position: "
        "coalesce(-list_position(ranked.ranking, position)::double, '-inf'::double))"
    )
    return workspace.create(
        "scored_rankings",
        f"select predictions.* replace (case when ranked.place is null then predictions.scores else {scores} end "
        f"as scores) from {pairs.predictions} as predictions left join {ranked} as ranked "
        "on ranked.place = predictions.rowid",
    )


def _check_counts(workspace: ScoringWorkspace, pairs: _Pairs, predicted: ScoringTable) -> int:
    """Return the number of keys without a prediction; refuse predictions for unknown keys, and repeated keys."""
    counts = f"(select count(*) from {pairs.keys}), (select count(*) from {pairs.predictions})"
    query = f"select {counts}, count(*), count_if(is_missing) from {predicted}"
    ((wanted, keys, rows, lost),) = workspace.con.execute(query).fetchall()
    if keys != wanted or rows != wanted or lost:
        refuse(
            workspace.con,
            f"select {row_text()} from {pairs.predictions} as predictions where not {pairs.of_keys(pairs.keys)}",
            "predictions for examples that are not in what is scored",
            next_step="predict just the examples of this split and publisher's release, as this build has them: "
            "--template lists them",
        )
    if rows > wanted:
        key = "split, example_index" if pairs.by_index else "record_id, turn_index, item_index"
        columns = "release, split, example_index, record_id, turn_index, item_index"
        refuse(
            workspace.con,
            f"select {key_text()} from (select {columns} from {predicted} "
            f"group by all having count(*) > 1 order by release, {key})",
            "examples have more than one prediction",
            next_step="give each example one row, by example_index or by record_id, turn_index and item_index",
        )
    return int(lost)


def _check_agreement(con: duckdb.DuckDBPyConnection, pairs: _Pairs, indexes: Iterable[str]) -> None:
    """Refuse rows whose record, or one of the given indexes below it, is not that of their example."""
    differs, is_key = "predictions.record_id <> keys.record_id", "keys.record_id"
    for name in indexes:
        differs += f" or predictions.{name} is distinct from keys.{name}"
    for name in ("turn_index", "item_index"):
        is_key += f" || coalesce(' {name} ' || keys.{name}, '')"
    refuse(
        con,
        f"select {row_text('predictions.')} || ' is ' || {is_key} "
        f"from {pairs.predictions} as predictions inner join {pairs.keys} as keys on {pairs.on} where {differs}",
        "rows whose record_id, turn_index or item_index are not those of their example_index",
        next_step="export the split again from this warehouse: the numbers move when files come or go",
    )


def _missing(con: duckdb.DuckDBPyConnection, predicted: ScoringTable, lost: int) -> BadPredictions:
    rows = f"from {predicted} where is_missing order by release, split, example_index"
    _, first = first_rows(con, f"select {key_text()} from ({rows})")
    return refusal(
        lost,
        first,
        "examples have no prediction",
        next_step="predict them, score one folder with --subset, or count them as wrong with --missing wrong",
    )


_SEED = 20_171_101

_KEY = "release, split, example_index"


def create_baseline(workspace: ScoringWorkspace, task: ScoredTask, examples: Examples, kind: Baseline) -> ScoringTable:
    """Create a prediction for each of the examples; UsageError where the task has none of a kind."""
    if kind is Baseline.MAJORITY and all(column.name in ("score", "scores") for column in task.columns):
        raise UsageError(f"candidates of {task.name} have no majority", next_step="take uniform, random or oracle")
    oracle = right_predictions(workspace, task, examples.keys)
    if kind is Baseline.ORACLE:
        return oracle
    labels = task.labels(workspace.con)
    columns = ", ".join(f"{_predicted(column, kind, labels)} as {quoted(column.name)}" for column in task.columns)
    usual = ", ".join(f"mode({quoted(column.name)}) as {quoted(column.name)}" for column in task.columns)
    seeded = workspace.create(
        "seeded",
        f"select *, row_number() over (order by {_KEY}) - 1 as place, "
        f"hash({_SEED}, release, split, example_index) as seed, count(*) over () as examples from {oracle}",
    )
    return workspace.create(
        "baseline",
        f"select own.release, own.split, own.example_index, {columns} "
        f"from {seeded} as own inner join {seeded} as other on other.place = own.seed % own.examples "
        f"cross join (select {usual} from {oracle}) as usual",
    )


def right_predictions(workspace: ScoringWorkspace, task: ScoredTask, keys: ScoringTable) -> ScoringTable:
    """Create the right predictions for examples, as the head of the task's file writes them from its view."""
    if task.query.oracle is None:
        raise CatalogueError(
            "the head of the SQL file does not say what the right prediction is",
            where=task.query.path,
            expected="a line '-- oracle: ...'",
            next_step="add it: docs/score-metrics.md says how, and baselines need it",
        )
    with head_errors(task.query, "oracle"):
        has_release = "release" in column_types(workspace.con, task.view)
        release = "release" if has_release else "null::varchar"
        oracle = workspace.create(
            "oracle",
            f"select {release} as release, split, example_index, {task.query.oracle} from {task.view} as gold where "
            f"exists (select 1 from {keys} as keys "
            "where keys.example_index = gold.example_index and keys.split = gold.split "
            f"and keys.release is not distinct from {'gold.release' if has_release else 'null'})",
        )
    there = workspace.columns(oracle)
    for column in task.columns:
        if column.name not in there:
            raise CatalogueError(
                f"the line '-- oracle:' gives no column '{column.name}'",
                where=task.query.path,
                expected=f"the columns {', '.join(column.name for column in task.columns)}",
                found=f"the columns {', '.join(there)}",
                next_step="correct the line",
            )
    return oracle


def _predicted(column: PredictionColumn, kind: Baseline, labels: list[str]) -> str:
    """Return the SQL of a predicted column, from the right one of this example, of another, and the usual one."""
    name = quoted(column.name)
    if column.name == "scores":
        value = "0.0" if kind is Baseline.UNIFORM else f"hash({_SEED}, own.seed, place)::double"
        return f"list_transform(range(len(own.scores)), lambda place: {value})"
    if column.name == "score":
        return "0.0" if kind is not Baseline.RANDOM else "own.seed::double"
    if kind is Baseline.MAJORITY:
        if column.name.startswith("prob_"):
            label = next(label for label in labels if f"prob_{label.lower()}" == column.name)
            return f"(usual.label = {literal(label)})::integer::double"
        return f"usual.{name}"
    if kind is Baseline.UNIFORM and labels:
        names = f"[{', '.join(map(literal, labels))}]"
        if column.name.startswith("prob_"):
            return f"1.0::double / {len(labels)}"
        return names if column.name == "labels" else f"{names}[(own.seed % {len(labels)})::bigint + 1]"
    return f"other.{name}"


def template(task: ScoredTask, examples: Examples) -> str:
    """Return the query of an empty prediction table: the keys of the split, and columns to be filled."""
    columns = ", ".join(f"null::{column.type} as {quoted(column.name)}" for column in task.columns)
    item = "item_index, " if examples.has_items else ""
    return (
        f"select release, split, example_index, record_id, turn_index, {item}{columns}, "
        f"{literal(examples.chosen.fingerprint)} as view_fingerprint "
        f"from {examples.keys} order by release nulls first, split, example_index"
    )
