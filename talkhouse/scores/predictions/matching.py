"""Each key of the split with its prediction; what is missing, doubled or for another example is refused."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

import duckdb

from talkhouse.schema.sql import quoted
from talkhouse.scores.tasks.examples import Examples
from talkhouse.scores.tasks.scoring_workspace import (
    BadPredictions,
    ScoringWorkspace,
    Table,
    first_rows,
    head_errors,
    key_text,
    refusal,
    refuse,
    row_text,
)
from talkhouse.scores.tasks.task import ScoredTask


@dataclass(frozen=True)
class _Pairs:
    """Predictions, the keys that they are for, and the condition that joins both."""

    predictions: Table
    keys: Table
    on: str
    """SQL over ``predictions`` and ``keys``."""
    by_index: bool
    """Whether they have the number of the example, or else its record, turn and item."""

    def of_keys(self, keys: Table) -> str:
        """Return the SQL that is true of ``predictions`` for some of these keys."""
        return f"exists (select 1 from {keys} as keys where {self.on})"

    def among(self, workspace: ScoringWorkspace, condition: str) -> "_Pairs":
        """Leave only the predictions for which a condition is true."""
        select = f"select predictions.* from {self.predictions} as predictions where {condition}"
        return replace(self, predictions=workspace.create("among", select))


def match(
    workspace: ScoringWorkspace,
    task: ScoredTask,
    typed: Table,
    names: Collection[str],
    examples: Examples,
    *,
    missing: str,
    as_printed: bool,
) -> tuple[Table, int]:
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
    """Return the SQL that joins ``predictions`` with ``keys``."""
    key = "example_index" if by_index else "record_id"
    others = [*(["turn_index", "item_index"] if not by_index else []), "release", "split"]
    return " and ".join(
        [
            f"predictions.{key} = keys.{key}",
            *(f"predictions.{name} is not distinct from keys.{name}" for name in others if name in names),
        ]
    )


def _scored_rankings(workspace: ScoringWorkspace, task: ScoredTask, pairs: _Pairs) -> Table:
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


def _check_counts(workspace: ScoringWorkspace, pairs: _Pairs, predicted: Table) -> int:
    """Return how many keys have no prediction; refuse predictions for what is not there, and keys given twice."""
    counts = f"(select count(*) from {pairs.keys}), (select count(*) from {pairs.predictions})"
    query = f"select {counts}, count(*), count_if(is_missing) from {predicted}"
    ((wanted, given, rows, lost),) = workspace.con.execute(query).fetchall()
    if given != wanted or rows != wanted or lost:
        refuse(
            workspace.con,
            f"select {row_text()} from {pairs.predictions} as predictions where not {pairs.of_keys(pairs.keys)}",
            "predictions for examples that are not in what is scored",
            next_step="predict just the examples of this split and release, as this build has them: "
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


def _missing(con: duckdb.DuckDBPyConnection, predicted: Table, lost: int) -> BadPredictions:
    rows = f"from {predicted} where is_missing order by release, split, example_index"
    _, first = first_rows(con, f"select {key_text()} from ({rows})")
    return refusal(
        lost,
        first,
        "examples have no prediction",
        next_step="predict them, score one folder with --subset, or count them as wrong with --missing wrong",
    )
