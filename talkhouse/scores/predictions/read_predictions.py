"""From what a user names to the prediction of each example."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from talkhouse.queries.heads import Form, LayoutQuery
from talkhouse.schema.errors import UsageError
from talkhouse.scores.predictions.baselines import create_baseline
from talkhouse.scores.predictions.layouts import lay_out, pour_layout
from talkhouse.scores.predictions.matching import match
from talkhouse.scores.predictions.prediction_files import PredictionFile, Reader, readable, reading, take
from talkhouse.scores.predictions.prediction_tables import TABLES, is_world_log, names_of, open_tables, pour_tables
from talkhouse.scores.predictions.typed import (
    RawPredictions,
    check_columns,
    check_fingerprint,
    check_values,
    named_splits,
    raw,
    wanted_columns,
    with_types,
)
from talkhouse.scores.tasks.examples import Examples, choose, create_examples, most_rows
from talkhouse.scores.tasks.options import AUTO, TABLE, Baseline
from talkhouse.scores.tasks.scoring_workspace import ScoringWorkspace, Table
from talkhouse.scores.tasks.task import ScoredTask, ScoreRequest
from talkhouse.system.folders import temporary_folder


@dataclass(frozen=True)
class Predictions:
    """Each example of what is scored with its prediction."""

    examples: Examples
    table: Table
    """The keys, the columns that the task declares, and ``is_missing``."""
    missing: int
    files: list[dict[str, str]]
    """Path and SHA-256 of each file; none of a baseline."""
    warnings: list[str]


class _ReadPredictions(NamedTuple):
    files: list[PredictionFile]
    raw: RawPredictions
    examples: Examples


def read_predictions(workspace: ScoringWorkspace, task: ScoredTask, request: ScoreRequest) -> Predictions:
    """Read predictions or make those of a baseline, check them, and match them with the examples that they are for.

    Raises UsageError where the files can't be read or the names can't be, BadPredictions where rows can't be scored.
    """
    files, given, examples = (
        _baseline(workspace, task, request, request.baseline) if request.baseline else _files(workspace, task, request)
    )
    check_columns(task, given.types)
    with readable(files):
        typed = with_types(workspace, task, given)
    chosen, con = examples.chosen, workspace.con
    check_fingerprint(con, typed, {chosen.fingerprint, *(split.fingerprint for split in chosen.splits)})
    warnings = check_values(con, task, typed, unknown=request.unknown, as_printed=request.as_printed)
    predicted, missing = match(
        workspace,
        task,
        typed,
        given.types,
        examples,
        missing="stop" if request.as_printed else request.missing,
        as_printed=request.as_printed,
    )
    workspace.drop([given.table, typed])  # they may be large
    named = [{"path": str(file.path), "sha256": file.sha256} for file in files]
    return Predictions(examples, predicted, missing, named, warnings)


def _baseline(workspace: ScoringWorkspace, task: ScoredTask, request: ScoreRequest, kind: Baseline) -> _ReadPredictions:
    examples = _examples(workspace, task, request)
    return _ReadPredictions([], raw(workspace, create_baseline(workspace, task, examples, kind)), examples)


def _files(workspace: ScoringWorkspace, task: ScoredTask, request: ScoreRequest) -> _ReadPredictions:
    """Read the files that a user names, as a table or in the layout that they are in."""
    with temporary_folder() as folder:
        files = take(request.paths, folder, request.limits)
        layout = _layout(task, request, files)
        with reading(workspace, folder, request.limits) as reader:
            if layout is None:
                given = raw(workspace, _pour(reader, task, files))
            else:
                source = pour_layout(reader, files[0], layout, most_rows(workspace.con, task))
    if layout is None:
        return _ReadPredictions(files, given, _examples(workspace, task, request, named_splits(workspace, given)))
    examples = _examples(workspace, task, request)
    laid_out = lay_out(workspace, files[0], layout, source, examples, most_rows(workspace.con, task))
    workspace.drop([source])
    return _ReadPredictions(files, raw(workspace, laid_out), examples)


def _pour(reader: Reader, task: ScoredTask, files: Sequence[PredictionFile]) -> Table:
    """Create a table of the rows of files; BadPredictions where these can't be predictions of the task."""
    wanted = wanted_columns(task)
    tables = open_tables(reader, files, wanted)
    names = names_of(tables)
    check_columns(task, names)
    return pour_tables(reader, tables, wanted, most_rows(reader.into.con, task, by_position="position" in names))


def _examples(
    workspace: ScoringWorkspace,
    task: ScoredTask,
    request: ScoreRequest,
    named: Sequence[tuple[str | None, str | None]] = (),
) -> Examples:
    asked = {"split": request.split, "release": request.release, "where": request.where}
    return create_examples(workspace, task, choose(workspace.con, task, **asked, subsets=request.subsets, named=named))


def _layout(task: ScoredTask, request: ScoreRequest, files: Sequence[PredictionFile]) -> LayoutQuery | None:
    """Return the layout in which predictions come, None for tables; by the name of the file unless it is named."""
    layout = _layout_of(task, request, files[0]) if request.layout == AUTO else task.layout(request.layout)
    if layout is not None and len(files) > 1:
        raise UsageError("this layout is one file or folder", found=f"{len(request.paths)}", next_step="name one")
    return layout


def _layout_of(task: ScoredTask, request: ScoreRequest, file: PredictionFile) -> LayoutQuery | None:
    if file.path.suffix.lower() in TABLES and not (file.is_folder or is_world_log(file, request.limits)):
        return None
    fitting = [layout for layout in task.layouts if layout.reads == _form(file)]
    if not fitting:
        raise UsageError(
            f"{task.name} has no predictions in the layout of {file.path.name}",
            expected=f"one of: {', '.join([TABLE, *(layout.name for layout in task.layouts)])}",
            next_step="name the layout with --format, or give a table: " + ", ".join(TABLES),
        )
    return fitting[0]


def _form(file: PredictionFile) -> Form:
    """Return the form of layouts that a file may be read for, by its name."""
    if file.is_folder or file.path.suffix == ".zip":
        return "documents"
    return "score_rows" if file.path.suffix == ".npy" else "lines"
