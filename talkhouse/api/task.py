"""A task in Python: the rows of its view, and scores of predictions."""

import json
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
from pyarrow import lib as pa

from talkhouse.api.options import chat_options, member
from talkhouse.api.score import Score
from talkhouse.export import composition, sandbox
from talkhouse.export.selection import Filters, select
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import column_types
from talkhouse.scores.options import Baseline
from talkhouse.scores.score import score
from talkhouse.scores.task import ScoreRequest, task
from talkhouse.scores.workspace import ScoringWorkspace
from talkhouse.system.memory import in_little_memory
from talkhouse.user_files import MEMORY
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.rows_hash import splits

if TYPE_CHECKING:
    from talkhouse.scores.score import Scored


class Task:
    """A task of a corpus: its examples, as its publisher split them. Made by ``warehouse["corpus.task"]``.

    Attributes
    ----------
    name : str
        The name of its view, ``corpus.task``.
    """

    def __init__(self, warehouse: Warehouse, path: Path, name: str) -> None:
        self.name = name
        self._warehouse, self._path = warehouse, path

    def __repr__(self) -> str:
        return f"Task({self.name!r}, splits={self.splits!r})"

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns of its view, in order; ``talkhouse views NAME`` says what each means."""
        return [*column_types(self._warehouse.con, f"from {self._view}")]

    @cached_property
    def labels(self) -> list[str]:
        """The labels that a prediction may have; empty where the task has none, or no metrics."""
        scored = {query.full_name for query in self._warehouse.catalogue.scores}
        return task(self.name, self._warehouse.catalogue).labels(self._warehouse.con) if self.name in scored else []

    @cached_property
    def splits(self) -> list[str]:
        """Its splits, by the publisher's names, sorted."""
        return sorted({split.split for split in self._splits})

    @cached_property
    def releases(self) -> list[str]:
        """The publisher's releases that it is in, sorted; empty where the corpus was published once."""
        return sorted({split.release for split in self._splits if split.release is not None})

    def rows(self, split: str | None = None, *, release: str | None = None, where: str | None = None) -> pl.DataFrame:
        """Return the examples, as ``talkhouse export`` writes them.

        Parameters
        ----------
        split : str, optional
            Only this split: the publisher's name, or train, validation or test.
        release : str, optional
            Only this one of the publisher's releases.
        where : str, optional
            Only rows of which this SQL expression of the columns is true, such as ``"turn_index > 2"``.

        Returns
        -------
        polars.DataFrame
            A row an example, in published order, with the columns of the view; JSON is text. A warning says where a
            turn is in it more than once, as in several releases, perhaps with other labels.

        Raises
        ------
        talkhouse.TalkhouseError
            There is no such split or release, the expression can't be one, or it leaves no row.
        """
        warehouse = self._warehouse
        try:
            selection = select(warehouse, self.name, Filters(split, release, (), where))
            counts = composition.composition(warehouse, selection)
            for remark in composition.warnings(warehouse, selection, counts):
                warnings.warn(remark, stacklevel=2)
            found: pl.DataFrame = warehouse.con.sql(selection.sql()).pl()
        except duckdb.Error as error:
            raise sandbox.failure(error, warehouse.con) from error
        return found

    def chat(
        self,
        split: str | None = None,
        *,
        release: str | None = None,
        as_: str | None = None,
        roles: Mapping[str, str] | str | None = None,
        persona: str | None = None,
    ) -> list[dict[str, Any]]:
        """Return the examples as trainers take conversations, as ``talkhouse export --for chat`` writes them.

        Parameters
        ----------
        split, release
            As in ``rows``; without a release, each example once, of its first.
        as_ : str, optional
            ``messages``, ``prompt`` or ``preference``. Without it: a preference where the task has two answers, a
            prompt where its examples are turns, or else messages.
        roles : mapping of str, or str, optional
            Role in the corpus -> role in a chat, such as ``{"agent": "assistant"}``, or ``"agent=assistant"``.
        persona : str, optional
            ``system``: the persona of who answers comes first, as a message of this role.

        Returns
        -------
        list of dict
            A dict an example, in published order: ``messages``, or ``prompt`` and ``completion``, or ``prompt``,
            ``chosen`` and ``rejected``, each a list of messages with ``role``, ``content`` and what else there is.
            An example with nothing before its answer has no prompt and is left out; a warning says how many.

        Raises
        ------
        talkhouse.TalkhouseError
            There is no such split or release, the task has no such answers, or a role is none of a chat.
        """
        from talkhouse.packages import chat

        options = chat_options(as_, roles, persona)
        try:
            package = chat.plan(options, self._warehouse, self.name, Filters(split, release), None)
            (config,) = package.configs
            lines = [line for part in config.splits for line in package.chats(part)]
        except duckdb.Error as error:
            raise sandbox.failure(error, self._warehouse.con) from error
        chats = [json.loads(line) for line in lines if line is not None]
        without = len(lines) - len(chats)
        left_out = [f"left out for want of a prompt: {without:,}"] if without else []
        for remark in (*config.warnings, *package.notes, *left_out):
            warnings.warn(remark, stacklevel=2)
        return chats

    def score(
        self,
        predictions: Any = None,
        *,
        split: str,
        release: str | None = None,
        where: str | None = None,
        baseline: str | None = None,
        threshold: float | Sequence[float] | None = None,
        interval: bool = False,
    ) -> Score:
        """Score predictions by the task's own published metrics, as ``talkhouse score``.

        Parameters
        ----------
        predictions : Polars, pandas or Arrow, list of dict, str or pathlib.Path
            A row an example, with ``example_index``, or ``record_id`` and ``turn_index`` (and ``item_index`` where
            several are of one turn), and what the task needs: ``docs/scores.md`` lists it. Or the path of a file.
        split : str
            The split that is scored: the publisher's name, or train, validation or test.
        release : str, optional
            Of this one of the publisher's releases.
        where : str, optional
            Only examples of which this SQL expression is true; then no number is official.
        baseline : str, optional
            In place of predictions: ``majority``, ``uniform``, ``random`` or ``oracle``.
        threshold : float or several, optional
            Of the gold label, a share from 0 to 1; without, those of the task.
        interval : bool
            Also the 95 % bootstrap interval of each metric, over dialogues.

        Returns
        -------
        Score
            The numbers, equal to those of the command. What to know of them is a warning.

        Raises
        ------
        talkhouse.TalkhouseError
            An example has no prediction or two, or a row can't be scored; the error has the first such rows.
        """
        if (predictions is None) == (baseline is None):
            raise UsageError(
                "nothing to score" if baseline is None else "too much to score", expected="predictions, or a baseline"
            )
        is_path = isinstance(predictions, str | Path)
        request = ScoreRequest(
            [Path(predictions)] if is_path else [],
            split=split,
            release=release,
            where=where,
            baseline=None if baseline is None else member(Baseline, baseline, "baseline"),
            interval=interval,
            table=None if is_path or predictions is None else _table(predictions),
        )
        asked = () if threshold is None else (threshold,) if isinstance(threshold, int | float) else threshold
        wanted = task(self.name, self._warehouse.catalogue)
        # A connection of its own, since the SQL of a task reads variables; it lives as long as the score.
        workspace = ScoringWorkspace(self._warehouse.con.cursor())

        def scored() -> "Scored":
            return score(workspace, wanted, request, asked)

        found = in_little_memory(workspace.con, MEMORY, scored)
        for remark in found.warnings:
            warnings.warn(remark, stacklevel=2)
        return Score(self._warehouse, workspace, found, self._path)

    @cached_property
    def _splits(self) -> list[Any]:
        return splits(self._warehouse.con, *self.name.split(".", 1))

    @property
    def _view(self) -> str:
        return ".".join(f'"{part}"' for part in self.name.split(".", 1))


def _table(predictions: Any) -> pa.Table:
    """Return a data frame, or a list of dicts, as a table of Arrow; UsageError for anything else."""
    try:
        if isinstance(predictions, list | tuple):
            return pl.from_dicts(predictions, infer_schema_length=None).to_arrow()
        return predictions if isinstance(predictions, pa.Table) else pa.table(predictions)
    except (TypeError, ValueError, AttributeError, pl.exceptions.PolarsError) as error:
        raise UsageError(
            "the predictions are no table",
            expected="a data frame of Polars or pandas, a table of Arrow, a list of dicts, or a path",
            found=f"{type(predictions).__name__}: {str(error)[:200]}",
        ) from error
