"""A warehouse in Python: SQL, its corpora and tasks, its dialogues, search, citations and exports."""

import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from talkhouse import queries
from talkhouse.api.options import connect, is_release, to_read
from talkhouse.schema.errors import QueryFailed, UsageError, closest, listed
from talkhouse.settings import corpus_folders, database
from talkhouse.warehouse import opened

if TYPE_CHECKING:
    import polars as pl

    from talkhouse.api.dialogue import Dialogue
    from talkhouse.api.task import Task

_COUNTS = ("dialogues", "turns", "labels", "candidates", "personas", "examples", "files", "quarantined", "findings")


class UnknownTask(UsageError, KeyError):
    """The warehouse has no task of that name."""

    __str__ = Exception.__str__


class Warehouse:
    """A warehouse that is open for reading: a snapshot of what was published when it was opened.

    Made by ``talkhouse.warehouse``, and closed by ``with`` or ``close()``. All frames are of Polars. What is wrong
    raises a ``talkhouse.TalkhouseError`` that says what to do next.

    Attributes
    ----------
    con : duckdb.DuckDBPyConnection
        The connection, as ``talkhouse.open`` returns it.
    path : pathlib.Path
        The file; of a release, the one that it was checked out to.
    """

    con: duckdb.DuckDBPyConnection
    path: Path

    def __init__(self, path: str | Path | None = None, *, unsafe: bool = False) -> None:
        self.path = database(to_read(path))
        self._is_release = is_release(path)
        state = _state(self.path)
        # DuckDB would draw a progress bar of its own into the notebook.
        instance = connect(self.path, settings={"enable_progress_bar": False}, unsafe=unsafe)
        # DuckDB closes the cursors of a connection with it, and those of tasks, queries and scores outlive this one.
        self.con = instance.cursor()
        self._facts: opened.Warehouse | None = opened.Warehouse(instance)
        # Published in between: it is not known which of both is open, and so it is not said to be current.
        self._state = state if state == _state(self.path) else None

    def __enter__(self) -> "Warehouse":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; relations, tasks and scores that came of it stay usable, and hold the file."""
        self.con.close()
        self._facts = None

    def __repr__(self) -> str:
        return f"Warehouse({str(self.path)!r})"

    @property
    def _open(self) -> opened.Warehouse:
        if self._facts is None:
            raise UsageError("the warehouse is closed", where=self.path, next_step="open it: talkhouse.warehouse()")
        return self._facts

    def is_current(self) -> bool:
        """Whether no other build was published at its path since it was opened; of a release always."""
        return self._is_release or (self._state is not None and self._state == _state(self.path))

    def sql(self, query: str, **frames: Any) -> duckdb.DuckDBPyRelation:
        """Run a query that reads.

        Parameters
        ----------
        query : str
            One statement of DuckDB's SQL that returns rows.
        **frames : pandas, Polars or Arrow
            Data frames, by the names that the query uses for them. It sees no other variable, and no file.

        Returns
        -------
        duckdb.DuckDBPyRelation
            The rows, which are read when they are asked for: ``.pl()``, ``.df()``, ``.arrow()``, ``.fetchall()``.

        Raises
        ------
        talkhouse.TalkhouseError
            The query can't be run; the error has the names that exist instead.
        """
        from talkhouse.export import sandbox

        con = self._open.con.cursor()  # frames of the same name in another query are others
        try:
            kinds = [sandbox.statement_type(statement) for statement in sandbox.parse(con, query)]
            if len(kinds) != 1 or kinds[0] not in sandbox.READING:
                raise QueryFailed(
                    "this runs one query that reads", found=", ".join(kinds), next_step="run others on .con"
                )
            for name, frame in frames.items():
                con.register(name, frame)
            return con.sql(query)
        except duckdb.Error as error:
            raise sandbox.failure(error, con) from error

    def corpora(self) -> "pl.DataFrame":
        """Return the contents of each corpus, as ``talkhouse status`` counts it.

        Returns
        -------
        polars.DataFrame
            A row a corpus, by its id: ``corpus``, ``title``, ``licence`` and ``terms`` (str), ``is_sample`` (bool: the
            invented one that comes with Talkhouse), and counts (int): ``dialogues``, ``turns``, ``labels``,
            ``candidates``, ``personas``, ``examples``, ``files``, ``quarantined`` (records) and ``findings``.
        """
        import polars as pl

        texts = {"corpus": pl.String, "title": pl.String, "licence": pl.String, "terms": pl.String}
        schema = {**texts, "is_sample": pl.Boolean, **dict.fromkeys(_COUNTS, pl.Int64)}
        rows = [{**corpus, "corpus": corpus["corpus_id"]} for corpus in self._described()["corpora"]]
        return pl.DataFrame([{name: row[name] for name in schema} for row in rows], schema=schema)

    def tasks(self) -> "pl.DataFrame":
        """Return the tasks, with their publishers' releases and splits.

        Returns
        -------
        polars.DataFrame
            A row of each split: ``task`` (``corpus.task``, the name of its view), ``release`` (null where the corpus
            was published once), ``split`` (by the publisher's name), ``standard_split`` (train, validation, test or
            null), all str, and ``examples`` (int).
        """
        found: pl.DataFrame = self._open.con.sql(queries.of_command("tasks")).pl()
        return found

    def __getitem__(self, name: str) -> "Task":
        """Return a task by the name of its view, ``corpus.task``.

        Raises
        ------
        KeyError
            There is no such task; the error, which is a ``talkhouse.TalkhouseError`` too, has the nearest names.
        """
        from talkhouse.api.task import Task

        query = "select distinct corpus_id || '.' || task from main.examples order by all"
        known = [task for (task,) in self._open.con.execute(query).fetchall()]
        if name not in known:
            near = listed(closest(str(name), known)) if known else "a task, and the warehouse has none"
            raise UnknownTask(f"no task '{name}'", expected=f"one of: {near}", next_step="list them with: .tasks()")
        return Task(self._open, self.path, name)

    def dialogue(self, id: str) -> "Dialogue":  # noqa: A002 - as the command's help calls it
        """Return a dialogue or record, by its id or by the publisher's where only one has it, as ``talkhouse show``.

        Raises
        ------
        talkhouse.TalkhouseError
            Nothing has this id, or several have; the error has ids that are near.
        """
        from talkhouse.api.dialogue import Dialogue
        from talkhouse.dialogues.dialogue import show

        return Dialogue(show(self._open.con, id))

    def search(self, text: str, *, rank: bool = False, **where: Any) -> "pl.DataFrame":
        """Find turns that contain a text, or texts by their words, as ``talkhouse search``.

        Parameters
        ----------
        text : str
            What is searched for, to the character; with ``rank`` its words count.
        rank : bool
            Find texts that have some of the words, the best first, by BM25. The first time, an index is written
            next to the warehouse.
        **where
            ``corpus``, ``role`` and ``split`` (str) choose, ``limit`` (int, 50) says how many rows at most. Without
            ``rank`` also ``regex`` and ``match_case`` (bool), with it ``kind``: turn, candidate or persona.

        Returns
        -------
        polars.DataFrame
            A row a turn, by ``dialogue_id`` and ``turn_index``, or, with ``rank``, a row a text with ``place`` (from
            1), ``score`` and ``kind``; ``text``, and ``matches``, the beginning and end of each in characters from 0.
            A warning says how many more there are.
        """
        from talkhouse.api.search import found

        frame, more = found(self._open, text, rank=rank, **where)
        if more:
            warnings.warn(f"{more:,} more are found with a higher limit", stacklevel=2)
        return frame

    def cite(self, name: str, format: str = "bibtex") -> str:  # noqa: A002 - as the command's option
        """Return the citation of a corpus, the corpora of a view, table or export, or a release, as ``talkhouse cite``.

        Parameters
        ----------
        name : str
            A corpus, a view or table, the path of an export, or the name of a release.
        format : str
            ``bibtex``, ``csl`` (CSL JSON) or ``text``.
        """
        from talkhouse.api.options import member
        from talkhouse.citation import CitationFormat
        from talkhouse.releases.cite import cite
        from talkhouse.releases.store import store_of

        chosen = member(CitationFormat, format, "format of a citation")
        return cite(name, chosen, store_of(db=self.path), lambda: nullcontext(self._open))

    def export(self, name: str, path: str | Path, **options: Any) -> Path:
        """Write a view or table to a file with its manifest, or a package to a folder, as ``talkhouse export``.

        Parameters
        ----------
        name : str
            A view or table; with ``for_`` also a corpus.
        path : str or pathlib.Path
            The file, whose ending sets the format (``.parquet``, ``.csv``, ``.tsv``, ``.jsonl``, ``.arrow``), or the
            folder, which is new.
        **options
            As in the command: ``split``, ``release``, ``where`` (str), ``subset`` (a str or several), ``accept_terms``,
            ``redact``, ``keep_personal_data`` (bool) and ``pseudonymise`` (the path of a key). Of a file also
            ``format`` (str), ``columns`` (list of str), ``limit`` (int), ``escape_formulas`` and ``force`` (bool).
            ``for_``: the program that opens the folder, such as ``huggingface``, ``croissant``, ``convokit``,
            ``labelstudio``, ``argilla`` or ``chat``; with the last also ``as_``, ``roles`` and ``persona``, as in
            ``Task.chat``, and then ``name`` may be a query.

        Returns
        -------
        pathlib.Path
            What was written. Warnings say what a reader may not expect, such as turns that are in it more than once.
        """
        from talkhouse.api.export import export

        written, remarks = export(self._open, name, Path(path), **options)
        for remark in remarks:
            warnings.warn(remark, stacklevel=2)
        return written

    def _described(self) -> dict[str, Any]:
        from talkhouse.warehouse.opened import described_with_ids

        return described_with_ids(self._open, self.path, corpus_folders())

    def _repr_html_(self) -> str:
        from talkhouse.api import html

        described = self._described()
        build = described["build"]
        facts = [
            f"{described['bytes'] / 1e6:,.1f} MB, schema {build['schema_revision']}",
            f"built {build['finished_at']:%Y-%m-%d %H:%M} UTC by Talkhouse {build['talkhouse_version']} "
            f"from {build['source']}",
            *([f"content id {described['content_id']}"] if described["content_id"] else []),
        ]
        shown = ("dialogues", "turns", "labels", "examples", "quarantined", "findings")
        rows = [
            [corpus["corpus_id"], corpus["title"], *(f"{corpus[count]:,}" for count in shown)]
            for corpus in described["corpora"]
        ]
        replaced = "" if self.is_current() else html.element("p", _REPLACED, "warning")
        return html.fragment(
            html.element("strong", self.path),
            *(html.element("p", fact, "note") for fact in facts),
            replaced,
            html.table(["corpus", "title", *shown], rows, shown),
        )


_REPLACED = "Another build was published since this was opened: open it again to see its rows."


def _state(path: Path) -> tuple[int, int, int] | None:
    """Return the numbers that tell a published file from another at the same path, or None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns
