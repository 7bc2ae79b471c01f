"""What each example scores, and the metrics over it: the SQL of a task."""

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import duckdb
from pyarrow import lib as pa

from talkhouse.queries.heads import Query
from talkhouse.schema.errors import CatalogueError
from talkhouse.schema.sql import column_types, literal, quoted
from talkhouse.scores.task import ScoredTask
from talkhouse.scores.workspace import Bound, ScoringTable, ScoringWorkspace, refuse
from talkhouse.warehouse.tokens import LETTER_WITHOUT_BLANKS, tokens

_EXAMPLE = ("release", "split", "example_index", "record_id", "dialogue_id")
"""Columns that the SQL of every task gives: of what scores, and of what it is drawn by."""


@dataclass(frozen=True)
class ScoreMetric:
    """A number, of all that was scored or of a slice."""

    name: str
    value: float | None
    official: bool
    """Whether it is what the publisher's own program gives."""
    slice: str | None
    """``column=value``; None for all."""
    best: float | None
    """The value if all ties were broken in favour of the prediction, or None if there are no ties."""
    worst: float | None
    count: int | None
    """Numerator of a share."""
    of: int | None
    """Denominator of a share; for a mean, how many examples have a value."""
    is_mean: bool
    """Whether it is a mean or a share: then numerators and denominators of parts add up."""
    threshold: float | None = None
    low: float | None = None
    """The bounds of its interval, or None if none was requested, or for a count."""
    high: float | None = None
    is_main: bool = False
    """Whether it is one to be looked at first: official, or not only for ties or by what the user chose.

    Where no metric of the task is official, those that are for other tasks, or the first few of a file.
    """

    @property
    def is_count(self) -> bool:
        """Whether it is a count shown next to the metrics."""
        return self.of is None and self.count is not None


_NONE = ("none",)
"""What the head of a task says where no metric is official."""

_FIRST = 4
"""Metrics of a file that are shown where no metric is official."""

_RESULT = frozenset(field.name for field in fields(ScoreMetric)[:9]) - {"slice"}
"""What the SQL of a metric gives."""


def set_threshold(con: duckdb.DuckDBPyConnection, threshold: float | None) -> None:
    """Set the threshold of the gold label for the SQL of a task."""
    if threshold is not None:
        con.execute(f"set variable threshold = {threshold!r}::double")


def score_examples(workspace: ScoringWorkspace, task: ScoredTask, predicted: ScoringTable) -> ScoringTable:
    """Create a table of what each example scores, from its prediction.

    Raises BadPredictions for predictions that can't be scored, CatalogueError where the SQL of the task is wrong.
    """
    relations = {"predicted": f"from {predicted}", "gold": _gold(workspace, task, predicted)}
    sql = Bound(task.query, "scores", relations)
    names = sql.check(workspace.con, *_EXAMPLE)
    with sql.errors(workspace.con):
        scored = workspace.create("scored", sql.sql)
    if "problem" in names:
        refuse(
            workspace.con,
            "select concat_ws(' ', release, split, 'example_index ' || example_index) || ': ' || problem "
            f"from {scored} where problem is not null order by release, split, example_index",
            "predictions can't be scored",
            next_step="give what the task declares: see docs/scores.md",
        )
    if "guess" not in names:
        return scored
    return _with_bleu(workspace, _with_bleu(workspace, _with_letters(workspace, scored)), "_letters")


def _gold(workspace: ScoringWorkspace, task: ScoredTask, predicted: ScoringTable) -> str:
    """Return the query of the rows of a task's view from the first record that is scored to the last.

    A join with ``predicted`` says the same, but DuckDB would first gather the candidates of all splits: only a
    comparison with a constant reaches the tables below.
    """
    ((first, last),) = workspace.con.execute(f"select min(record_id), max(record_id) from {predicted}").fetchall()
    known = [*column_types(workspace.con, task.view)]
    if first is None or "record_id" not in known:
        return f"from {task.view}"
    return f"from {task.view} where record_id between {literal(first)} and {literal(last)}"


def whole(scored: ScoringTable) -> str:
    """Return the query of all that was scored, as one slice."""
    return f"select null::varchar as slice, * from {scored}"


def metrics(con: duckdb.DuckDBPyConnection, task: ScoredTask, sliced: str, scored: str) -> list[ScoreMetric]:
    """Run the metrics of a task over a query of what examples score with a column ``slice``; null stands for all.

    ``scored`` is the query of all examples, which the slices or resamples are of.
    """
    by_name: dict[tuple[str | None, str], ScoreMetric] = {}
    relations = {"sliced": sliced, "scored": scored}
    for summary in task.summaries:
        sql = Bound(summary, "metrics", relations)
        with sql.errors(con):
            of_slices = con.execute(f"select slice, results from ({sql.sql}) order by slice").fetchall()
        for part, results in of_slices:
            for metric in _of_file(summary, task, part, results):
                by_name.setdefault((part, metric.name), metric)
    return list(by_name.values())


def _of_file(summary: Query, task: ScoredTask, part: str | None, results: object) -> Iterator[ScoreMetric]:
    """Yield the metrics that a file gives of a slice; CatalogueError where it gives something else."""
    if not isinstance(results, list) or not all(isinstance(row, dict) and row.keys() == _RESULT for row in results):
        raise CatalogueError(
            "the SQL file returns what is not a metric",
            where=summary.path,
            expected="a column 'results': a list of metrics.mean, share, over_ties, value and count_of",
            found=f"{results}"[:200],
            next_step="correct the file",
        )
    official = task.query.official
    has_official = any(result["official"] for result in results)
    for place, result in enumerate(results):
        is_possible = official is None or result["name"] in official
        is_main = is_possible and (result["official"] or result["best"] is not None)
        if official == _NONE:
            is_main = result["official"] if has_official else place < _FIRST
        is_official = is_possible and result["official"]
        yield ScoreMetric(**result | {"slice": part, "official": is_official, "is_main": is_main})


def tied(workspace: ScoringWorkspace, scored: ScoringTable) -> int:
    """Return the number of examples with a candidate with the score of the right one."""
    if "tied" not in workspace.columns(scored):
        return 0
    return int(workspace.con.execute(f"select count_if(tied > 1) from {scored}").fetchall()[0][0])


_EPSILON = 1e-12
"""What counts in place of no match."""

_LONGEST = 4


def _sentence_bleu(guess: str, answer: str) -> list[float]:
    """Return BLEU-1 to BLEU-4 of one normalised text against another, each with equal weights."""
    hypothesis, reference = guess.split(" "), answer.split(" ")
    hits = _matches(hypothesis, reference)
    if hits[0] == 0:
        return [0.0] * _LONGEST
    short = len(hypothesis) < len(reference)
    penalty = math.exp(1 - len(reference) / len(hypothesis)) if short else 1.0
    logs = [math.log((count or _EPSILON) / max(1, len(hypothesis) - size)) for size, count in enumerate(hits)]
    return [penalty * math.exp(math.fsum(log / size for log in logs[:size])) for size in range(1, _LONGEST + 1)]


def _matches(hypothesis: Sequence[str], reference: Sequence[str]) -> list[int]:
    """Count the n-grams of each size that both have, each as often as both have it."""
    hits = [0] * _LONGEST
    for size in range(1, _LONGEST + 1):
        grams, others = Counter(_grams(hypothesis, size)), Counter(_grams(reference, size))
        if grams.keys().isdisjoint(others):  # no longer one either: it would begin with one of this size
            break
        hits[size - 1] = (grams & others).total()
    return hits


def _grams(tokens: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return list(zip(*(tokens[start:] for start in range(size)), strict=False))


def _with_letters(workspace: ScoringWorkspace, scored: ScoringTable) -> ScoringTable:
    """Create what each example scores with guess_letters and answer_letters: the texts as tokens, joined by blanks.

    These take each letter of a script without blanks for a word; they are null where no answer has such a letter.
    """
    answer, guess = (f"array_to_string({tokens(column)}, ' ')" for column in ("answer", "guess"))
    ((is_cut,),) = workspace.con.execute(
        f"select count(*) > 0 from {scored} "
        f"where strlen(answer) <> length(answer) and regexp_matches({answer}, {literal(LETTER_WITHOUT_BLANKS)})"
    ).fetchall()
    letters = f"if({is_cut}, {guess}, null) as guess_letters, if({is_cut}, {answer}, null) as answer_letters"
    with_columns = workspace.create("scored", f"select *, {letters} from {scored} order by rowid")
    workspace.drop([scored])
    return with_columns


def _with_bleu(workspace: ScoringWorkspace, scored: ScoringTable, form: str = "") -> ScoringTable:
    """Create what each example scores with the columns bleu_1 to bleu_4 too; they are null where there is no guess.

    With a ``form``, of the texts in that form, and the names of the columns end in it.
    """
    guess, answer = f"guess{form}", f"answer{form}"
    query = f"select rowid, {guess}, {answer} from {scored} where {guess} is not null and {answer} is not null"
    rows = workspace.con.execute(query).fetchall()
    values = array("d", (value for _, guess, answer in rows for value in _sentence_bleu(guess, answer)))
    columns = {"place": _column(array("q", (place for place, *_ in rows)), pa.int64())}
    columns |= {f"bleu_{size + 1}{form}": _column(values[size::_LONGEST], pa.float64()) for size in range(_LONGEST)}
    bleu = workspace.create_arrow("bleu", pa.table(columns))
    with_columns = workspace.create(
        "scored",
        f"select scored.*, bleu.* exclude (place) from {scored} as scored "
        f"left join {bleu} as bleu on bleu.place = scored.rowid order by scored.rowid",
    )
    workspace.drop([bleu, scored])
    return with_columns


def _column(numbers: "array[float] | array[int]", kind: pa.DataType) -> pa.Array:
    """Return numbers as a column; of a list, Arrow would import pandas where that is installed."""
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(numbers)])


_OWN = ("release", "split", "example_index", "record_id", "turn_index")


def examples_query(workspace: ScoringWorkspace, task: ScoredTask, scored: ScoringTable) -> str:
    """Return the query of what each example scores, with its keys and the columns of the task's view."""
    names = [metric.name for metric in metrics(workspace.con, task, whole(scored), f"from {scored}")]
    each = workspace.create("each_example", _each(task, scored, names))
    known = [*column_types(workspace.con, task.view)]
    same = ["example_index", "split", *(["release"] if "release" in known else [])]
    on = " and ".join(f"gold.{name} is not distinct from scored.{name}" for name in same)
    gold = ", ".join(f"gold.{quoted(name)}" for name in known if name not in _OWN)
    return (
        f"select scored.release, scored.split, scored.example_index, scored.record_id, each.* exclude (slice), {gold} "
        f"from {scored} as scored inner join {each} as each on each.slice = scored.rowid::varchar "
        f"inner join {task.view} as gold on {on} "
        "order by scored.release nulls first, scored.split, scored.example_index"
    )


def _each(task: ScoredTask, scored: ScoringTable, names: Sequence[str]) -> str:
    """Return the query of a row per example with a column per metric."""
    sliced = {"sliced": f"select rowid::varchar as slice, * from {scored}", "scored": f"from {scored}"}
    parts = " union all ".join(
        f"select slice, unnest(results, recursive := true) from ({Bound(summary, 'metrics', sliced).sql})"
        for summary in task.summaries
    )
    columns = ", ".join(f"max(value) filter (where name = {literal(name)}) as {quoted(name)}" for name in names)
    return f"select slice, {columns} from ({parts}) group by slice"
