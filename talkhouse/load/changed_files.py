"""Reads the new and changed files of a corpus alone, and takes away the rows of those that are gone.

The tables are then those of reading all files. What a file's rows owe to the files before are the keys of dialogues,
and what these say of speakers and texts that it names too. So files that share a dialogue are read together, and where
a speaker's row may be another one, the corpus is read whole.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
from sqlalchemy import Table

from talkhouse.ingest.corpus import PartsReader
from talkhouse.ingest.files.archives import points_outside, unpacked
from talkhouse.ingest.files.disk_files import DiskFile
from talkhouse.ingest.files.skipped import skip_reason
from talkhouse.ingest.keys import Tallies, Tally
from talkhouse.ingest.registry import rules_of
from talkhouse.load.plan import FileChanges
from talkhouse.load.request import Input
from talkhouse.schema.sql import literal
from talkhouse.schema.sql_files import sql_of
from talkhouse.schema.tables import metadata, qualified

MOST = 1 / 2
"""Share of a corpus's bytes: where more than that is to be read, all of it is."""


class ReadWhole(Exception):
    """The corpus is to be read whole; the message says why."""


@dataclass(frozen=True)
class ChangedFiles:
    """The changed files of one corpus, and a staged file that has the rows of all files as they were."""

    con: duckdb.DuckDBPyConnection
    """To the staged file."""
    item: Input
    reader: PartsReader
    fresh: Path
    """A warehouse of the files that are read, which ``read`` makes."""
    read: Callable[[list[DiskFile], list[str]], None]
    """Reads files; the second are the paths of the corpus's other files, archives taken as folders."""

    def load(self, changes: FileChanges) -> tuple[int, set[str]]:
        """Make the tables those of the files as they are; ReadWhole: nothing was changed.

        Return how many were read, and the source files whose rows went, perhaps to be read again.
        """
        con, corpus = self.con, {"corpus": self.item.corpus.id}
        if con.execute(_NOT_COUNTED, corpus).fetchall():
            raise ReadWhole("its files were read by an older Talkhouse")
        con.execute(sql_of(__file__, "files_of_dialogues", base=_BASE), corpus)
        try:
            gone = {*changes.gone}
            files = self._read({file.stat.path: file for file in changes.new}, gone)
            con.execute("begin")
            try:
                self._replace(gone)
                replaced = {file_id for (file_id,) in con.execute(f"from {_FILES}").fetchall()}
                con.execute("commit")
            except BaseException:
                con.execute("rollback")
                raise
        finally:
            con.execute("drop table temp.files_of_dialogues")
            con.execute("detach database if exists fresh")
        return files, replaced

    def _read(self, wanted: dict[str, DiskFile], gone: set[str]) -> int:
        """Read files, with all others that share a dialogue with them or with what is gone, and attach the result.

        What is read again is added to ``gone``.
        """
        by_path = {file.stat.path: file for file in self.item.files}
        size = sum(file.stat.size for file in self.item.files)
        shared = self._sharing("shared_with_gone", gone)
        reason = "most of it is in files that are new or have changed"
        while True:
            wanted.update({path: by_path[path] for path in shared})
            gone.update(shared)
            for path, dialogue in sorted(shared.items())[:1]:
                reason = f"dialogues are in several files, {dialogue!r:.100} also in {path}"
            parameters = {"corpus": self.item.corpus.id, "gone": [*gone]}
            rows = self.con.execute(sql_of(__file__, "other_files"), parameters).fetchall()
            there = (str(unpacked(*file)) for file in rows if not points_outside(file[1] or ""))
            others = [path for path in there if not skip_reason(path)]
            if not others or sum(file.stat.size for file in wanted.values()) > MOST * size:
                raise ReadWhole(reason)
            self.con.execute("detach database if exists fresh")
            self.read(sorted(wanted.values(), key=lambda file: file.stat.path), others)
            self.con.execute(f"attach {literal(str(self.fresh))} as fresh (read_only)")
            shared = self._sharing("shared_with_fresh", gone)
            if not shared:
                return len(wanted)
            shared |= self._sharing("shared_with_gone", gone | shared.keys())

    def _sharing(self, name: str, gone: set[str]) -> dict[str, str]:
        """Return the paths of further files, each with a dialogue that it shares; until there are no others."""
        found: dict[str, str] = {}
        query = sql_of(__file__, name, base=_BASE)
        while more := dict(self.con.execute(query, {"gone": [*gone, *found]}).fetchall()):
            found |= more
        return found

    def _replace(self, gone: set[str]) -> None:
        con, corpus = self.con, self.item.corpus
        files = con.execute(sql_of(__file__, "all_files"), {"corpus": corpus.id, "gone": [*gone]}).fetchall()
        for place, file_ids in Counter((is_now, file_id) for is_now, file_id, *_ in files).items():
            if file_ids > 1:
                raise ReadWhole(f"two of its files have the name {place[1]!r:.100}")
        paths = Counter((is_now, unpacked(path, member)) for is_now, _, path, member in files)
        for (is_now, path), times in paths.items():
            if times > 1:
                verb = "has" if is_now else "had"
                raise ReadWhole(f"it {verb} {str(path)!r:.100} twice, in a folder and in an archive")
        before = self._tallies()
        con.execute(sql_of(__file__, "gone_files"), {"gone": [*gone]})
        con.execute(sql_of(__file__, "gone_rows"))
        for table in metadata.tables.values():
            if condition := _of_gone(table):
                con.execute(f"delete from {qualified(table)} where {condition}")
        for name in _SEVERAL_NAME:
            con.execute(f"delete from main.{name} where corpus_id = ? and {_unused(name)}", [corpus.id])
        self._check()
        for table in metadata.tables.values():
            self._insert(qualified(table))
        con.execute("delete from main.labels where starts_with(scheme, ?) and label_index is null", [f"{corpus.id}."])
        of_others = "corpus_id = ? and release_index >= ?"
        con.execute(f"delete from main.releases where {of_others}", [corpus.id, len(corpus.releases)])
        con.execute("delete from main.examples where corpus_id = ?", [corpus.id])
        self._find_at_the_end(before, self._tallies())
        loaded = "select coalesce(sum(records_loaded), 0) from meta.source_files where corpus_id = ?"
        if con.execute(loaded, [corpus.id]).fetchall() == [(0,)]:
            raise ReadWhole("nothing of it is left")

    def _check(self) -> None:
        """Raise ReadWhole where a row of what was read is there already, and not the same, or may not be."""
        for table, key in _SEVERAL_NAME.items():
            same = f"from fresh.main.{table} semi join main.{table} using ({key})"
            if table != "speakers" and self.con.execute(f"{same} except from main.{table} limit 1").fetchall():
                raise ReadWhole(f"rows of main.{table} are in several of its files, and differ")
        facts = {"has_facts": self.reader.has_speaker_facts}
        for (speaker,) in self.con.execute(sql_of(__file__, "doubtful_speakers"), facts).fetchall():
            raise ReadWhole(f"several of its files name {speaker!r:.100}, and which comes first decides what is known")

    def _insert(self, table: str) -> None:
        """Insert what was read."""
        if table in _DECLARED or not self.con.execute(f"select 1 from fresh.{table} limit 1").fetchall():
            return
        rows = f"select * from fresh.{table}"
        if (key := _SEVERAL_NAME.get(table.removeprefix("main."))) is not None:
            rows += f" anti join {table} using ({key})"
        elif table == "meta.findings":
            behind = f"(select coalesce(max(finding_index) + 1, 0) from {table} where corpus_id = $corpus)"
            rows = f"select * replace (finding_index + {behind} as finding_index) from fresh.{table}"
            rows += " where corpus_id = $corpus"
        corpus = {"corpus": self.item.corpus.id} if "$corpus" in rows else None
        self.con.execute(f"insert into {table} by name {rows}", corpus)

    def _tallies(self) -> Tallies:
        """Return the counts of each file whose rows are there."""
        query = "select source_file_id, counts from meta.source_files where corpus_id = ? and counts is not null"
        found = self.con.execute(f"{query} order by all", [self.item.corpus.id]).fetchall()
        return defaultdict(Tally, {file_id: Tally(**json.loads(counts)) for file_id, counts in found})

    def _find_at_the_end(self, before: Tallies, after: Tallies) -> None:
        """Replace what was found of all files together."""
        corpus = self.item.corpus
        for _, finding in self.reader.end(before):
            self.con.execute("delete from meta.findings where corpus_id = ? and rule = ?", [corpus.id, finding.rule])
        for file_id, finding in self.reader.end(after):
            self.con.execute(
                sql_of(__file__, "finding_at_the_end"),
                {
                    "corpus": corpus.id,
                    "rule": finding.rule,
                    "severity": finding.severity or rules_of(corpus)[finding.rule].severity,
                    "file": file_id,
                    "pointer": finding.pointer,
                    "detail": finding.detail,
                },
            )


_SEVERAL_NAME = {"speakers": "speaker_id", "texts": "text_id", "personas": "persona_id"}
"""Tables in which a corpus has a row once, whichever of its files name it; and its key."""

_DECLARED = {
    *("main.corpora", "main.corpus_terms", "main.releases", "main.schemes", "main.labels", "main.examples"),
    *("meta.loads", "meta.rules", "meta.checks", "meta.exceptions", "meta.query_files", "meta.alembic_version"),
}
"""Tables whose rows no file has."""


def _of_gone(table: Table) -> str | None:
    """Write the condition of the rows that came from files which are gone; None for a table with no such rows."""
    name, columns = qualified(table), {column.name for column in table.columns}
    if name in _DECLARED or table.name in _SEVERAL_NAME:
        return None
    if name == "meta.findings":
        return f"source_file_id in {_FILES} or record_id in (from gone_records)"
    if "source_file_id" in columns:
        return f"source_file_id in {_FILES}"
    if table.info["owner"] == "record_id":
        return "record_id in (from gone_records)"
    return "dialogue_id in (from gone_dialogues)"


def _unused(table: str) -> str:
    """Write the condition of the rows of a table that no row of another one names."""
    key = _SEVERAL_NAME[table]
    naming = [
        f"select {element.parent.name} from {qualified(other)}"
        for other in metadata.tables.values()
        for constraint in other.foreign_key_constraints
        for element in constraint.elements
        if element.column.table.name == table and qualified(other) not in _DECLARED
    ]
    return f"not exists (from ({' union all '.join(naming)}) as named(key) where key = {key})"


_BASE = "regexp_replace(dialogue_id, '(~[0-9a-f]{8,32})+$', '')"
"""The id of a dialogue without what tells other words under the same id apart (``ingest.keys``)."""

_NOT_COUNTED = (
    "select 1 from meta.source_files "
    "where corpus_id = $corpus and kind = 'read' and records_loaded > 0 and counts is null limit 1"
)
_FILES = "(from gone_files)"
