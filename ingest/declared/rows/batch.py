"""Rows of whole dialogues to the rows of the tables, as columns."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec
import polars as pl

from talkhouse.ingest.common_rules import Severity
from talkhouse.ingest.declared.declaration.model import ALL, ISO, ISO_UTC, MOMENTS, Declaration, Files, Splits
from talkhouse.ingest.declared.identity import Identity, digests, ids_within, line
from talkhouse.ingest.declared.labels import Labels
from talkhouse.ingest.declared.rows.columns import (
    DOMAIN,
    ID,
    IS_BOT,
    KIND,
    LANGUAGE,
    NAME,
    OF_DIALOGUE,
    ORDER,
    READ,
    REPLY_TO,
    ROLE,
    SAID_AT,
    SPEAKER,
    SPLIT,
    STARTED_AT,
    TEXT,
    TIMES,
    TITLE,
    TURN_ID,
    Placeholder,
    RowColumns,
    TimeColumns,
)
from talkhouse.ingest.declared.rows.facts import OWNER, Differing, RowExtras, differing, facts_of, record_extra
from talkhouse.ingest.declared.rows.replies import (
    TURN_INDEX,
    VALUE,
    Replies,
    by_places,
    by_time,
    places_by_replies,
    replies,
)
from talkhouse.ingest.declared.rows.row_labels import labels_inside, labels_of
from talkhouse.ingest.declared.rows.spool import HAS_DEFAULT, NUMBER, POSITION
from talkhouse.ingest.declared.shapes import Shapes
from talkhouse.ingest.declared.speakers import NO_ROLE, SPOKEN, Roles, Speakers
from talkhouse.ingest.declared.times import BadTimes, read_times
from talkhouse.ingest.declared.turn_tallies import TurnTallies
from talkhouse.ingest.decode import pointer
from talkhouse.ingest.keys import Memory
from talkhouse.ingest.outcomes import LoadedBatch, ReaderFinding
from talkhouse.ingest.rows import Annotation, ColumnBatch, Dialogue, Record, Turn
from talkhouse.ingest.sources import SourceFile


class RowFindings:
    """The findings of some rows, with their ``record_id``."""

    def __init__(self, file: SourceFile, rows: pl.DataFrame, extras: RowExtras, bad_times: BadTimes) -> None:
        self._file, self._rows, self._extras, self._bad_times = file, rows, extras, bad_times
        self.findings: list[ReaderFinding] = []

    def add(self, rule: str, row: int, placeholder: Placeholder, detail: str, severity: Severity | None = None) -> None:
        """Add a finding about a cell, with its rule's severity or another."""
        at = pointer(self._rows["line"][row], *self._extras.path(placeholder, row))
        turn_index = self._rows[TURN_INDEX][row]
        record_id = self._rows["record_id"][row]
        finding = ReaderFinding(rule, detail, self._file, at, record_id, turn_index=turn_index, severity=severity)
        self.findings.append(finding)

    def of_dialogues(self, dialogues: pl.DataFrame) -> None:
        """Add a finding for each dialogue whose id was taken by other words."""
        for row in dialogues.filter("is_taken").iter_rows(named=True):
            detail = f"the id {row['native_id']!r:.100} was taken by other words; this dialogue is {row['dialogue_id']}"
            finding = ReaderFinding("GF-04", detail, self._file, pointer(row["line"]), row["record_id"])
            self.findings.append(finding)

    def of_default_ids(self) -> None:
        """Add a finding for each dialogue some of whose turns don't say of which they are."""
        if HAS_DEFAULT not in self._rows.columns:
            return
        lacking = self._rows.select(OWNER, HAS_DEFAULT, row=pl.int_range(pl.len())).filter(HAS_DEFAULT)
        counted = lacking.group_by(OWNER, maintain_order=True).agg(pl.col("row").first(), pl.len())
        for row, count in counted.select("row", "len").iter_rows():
            self.add("GF-20", row, ID, f"{count:,} in what is now {self._rows[ID][row]!r:.100}; here the first")

    def of_contradictions(self, cells: Iterable[Differing], facts: pl.DataFrame) -> None:
        """Add a finding for each column in which the rows of a dialogue say something else than the first that does."""
        seen: set[tuple[int, Placeholder]] = set()
        for cell in cells:
            owner = self._rows[OWNER][cell.row]
            if cell.is_contradiction and (owner, cell.placeholder) not in seen:
                seen.add((owner, cell.placeholder))
                detail = f"{cell.literal:.100}, but before: {str(facts[cell.placeholder][owner])!r:.100}"
                self.add("GF-18", cell.row, cell.placeholder, detail)

    def of_replies(self, replies: Replies) -> None:
        """Add findings for ids that occur twice, and for replies that lead nowhere, round in a loop, or forward."""
        for row in replies.repeated:
            self.add("GF-06", row, TURN_ID, f"the id {self._rows[TURN_ID][row]!r:.100} is an earlier turn's")
        for problem, where in (
            ("is not the id of a turn of the dialogue", replies.lost),
            ("replies to this turn in the end", replies.looped),
        ):
            for row in where.arg_true():
                self.add("GF-07", row, REPLY_TO, f"{self._rows[REPLY_TO][row]!r:.100} {problem}")
        for row in (replies.targets > self._rows[TURN_INDEX]).arg_true():
            self.add("GF-19", row, REPLY_TO, f"{self._rows[REPLY_TO][row]!r:.100} is the turn {replies.targets[row]}")

    def of_places(self) -> None:
        """Add a finding for each dialogue whose turns are not in their order, for a place that is no number."""
        if ORDER not in self._rows.columns:
            return
        lacking = self._rows.select(OWNER, VALUE, row=pl.int_range(pl.len())).filter(pl.col(VALUE).is_null())
        counted = lacking.group_by(OWNER, maintain_order=True).agg(pl.col("row").first(), pl.len())
        for row, count in counted.select("row", "len").iter_rows():
            found = self._rows[ORDER][row]
            what = "there is none" if found is None else f"{found!r:.100} is no number"
            detail = f"{count:,} turns without a place, here the first: {what}; all stand in the order of their lines"
            self.add("GF-24", row, ORDER, detail)

    def of_times(self, placeholder: Placeholder, bad: pl.Series) -> None:
        """Add a finding for each time of another form than declared, as long as there are not too many."""
        for row in bad.is_not_null().arg_true():
            self.of_time(placeholder, row, f"{bad[row]!r:.100} is not a time of the declared time_format")

    def of_time(self, placeholder: Placeholder, row: int, detail: str) -> None:
        """Add a finding for a time of another form than declared, unless its column had too many."""
        if self._bad_times.is_named(self._extras.column(placeholder, row)):
            self.add("GF-09", row, placeholder, detail)


TURNS = "turns"
"""In a record's ``extra``, where a dialogue is in several files: the first of its turns, and that behind the last."""

OURS = "role.ours"
"""Column of the role as the tables have it."""

_TRUE = ("true", "1", "yes")
_FACTS = (TITLE, DOMAIN, LANGUAGE, STARTED_AT)


@dataclass
class FolderTurns:
    """The turns of the files of a folder that were read, which are one dialogue."""

    count: int = 0
    ids: dict[str, int] = field(default_factory=dict)
    """Id -> the first turn that has it."""
    speakers: set[str] = field(default_factory=set)

    def add(self, turns: pl.DataFrame, extra: pl.Series) -> pl.Series:
        """Add the turns of a file; return the ``extra`` of its record, which says which they are."""
        for native_id, index in turns.drop_nulls("native_id").select("native_id", TURN_INDEX).iter_rows():
            self.ids.setdefault(native_id, index)
        begin, self.count = self.count, self.count + len(turns)
        own = f'{{"{TURNS}":[{begin},{self.count}]'
        return pl.Series([own + ("}" if text is None else "," + text[1:]) for text in extra], dtype=pl.String)


@dataclass
class RowsBuild:
    """What the files of one corpus have in common."""

    declaration: Declaration
    speakers: Speakers
    columns: RowColumns
    memory: Memory
    remember: Callable[[pl.DataFrame, pl.DataFrame], None] | None
    """None if no labels are about dialogues that were read before."""
    has_several_files: bool
    """Only then a dialogue may be there twice, and hashes of its words are kept."""
    labels_inside: Sequence[Labels] = ()
    """Schemes whose labels are inside JSON rows."""
    conversations: Callable[[pl.DataFrame, pl.Series], pl.DataFrame] | None = None
    """What another file says of the dialogues, if there is one."""

    def __post_init__(self) -> None:
        """Prepare roles and splits."""
        self.folders: dict[str, FolderTurns] = {}
        self.roles = Roles(self.declaration)
        self.splits = Splits(self.declaration)
        self.identity = Identity(self.declaration.corpus_id, self.memory)
        self.tallies = TurnTallies(self.declaration, self.memory.tallies)
        languages = self.declaration.languages
        self.language = languages[0] if len(languages) == 1 else None


class FileRows:
    """One file's dialogues on their way to the tables."""

    def __init__(
        self, build: RowsBuild, file: SourceFile, files: Files, shapes: Shapes, *, is_csv: bool, bytes_a_row: float
    ) -> None:
        """``shapes``: those of all of its rows."""
        self._build, self._file, self._files, self._is_csv = build, file, files, is_csv
        self._path = build.identity.file(file)
        self._bytes_a_row = bytes_a_row
        self._shapes = msgspec.json.encode(shapes.envelope()).decode()
        self._forms = {**dict.fromkeys(TIMES, ISO), **build.declaration.times} if shapes.is_utc else {}
        self._columns = build.columns
        self._split = files.split or ALL
        above, _, _ = self._path.rpartition("/")
        self._folder = build.folders.setdefault(above, FolderTurns()) if build.declaration.dialogue.is_folder else None
        self._above = above
        self.bad_times = BadTimes()
        self.is_scattered = False
        """Whether some dialogue's rows don't stand together, in order."""

    def batch(self, rows: pl.DataFrame) -> LoadedBatch:
        """Make the rows of whole dialogues, which follow one another."""
        rows = self._in_order(self._in_utc(rows))
        rows = rows.with_columns(self._roles(rows))
        facts = facts_of(rows, self._columns)
        dialogues = self._dialogues(rows, facts)
        if self._build.conversations is not None:
            facts = self._build.conversations(facts, dialogues["native_id"])
        rows = rows.hstack(dialogues[["dialogue_id", "record_id", "is_new", "is_same"]][rows[OWNER]])
        extras = RowExtras(rows, self._columns, is_csv=self._is_csv)
        findings = RowFindings(self._file, rows, extras, self.bad_times)
        findings.of_dialogues(dialogues)
        findings.of_default_ids()
        findings.of_places()
        spoken = self._spoken(rows)
        if self._folder is not None:
            is_new = [speaker not in self._folder.speakers for speaker in spoken["speaker"]]
            spoken = spoken.with_columns(pl.Series("is_new", is_new, dtype=pl.Boolean))
            self._folder.speakers.update(spoken["speaker"].drop_nulls())
        speakers = self._build.speakers.of_turns(spoken)
        if NAME in rows.columns:
            names = spoken["speaker_id"].replace_strict(speakers.names, default=None, return_dtype=pl.String)
            extras.keep(NAME, rows[NAME].ne_missing(names))
        turns = self._turns(rows, extras, findings).with_columns(spoken["speaker_id"])
        labelled = labels_of(rows, self._columns, extras)
        for row, label in labelled.outside:
            findings.add("GF-08", row, label.start or "", "the span is not inside its text")
        for rule, row, placeholder, detail in labelled.numbers:
            findings.add(rule, row, placeholder, detail, "warn")
        turns = turns.with_columns(extras.extra().alias("extra"))
        self._build.tallies.look(self._file, turns, spoken)
        cells = list(differing(rows, facts, self._columns, extras, self._split))
        findings.of_contradictions(cells, facts)
        extra = record_extra(rows, dialogues, self._columns, extras, cells)
        if self._folder is not None:
            extra = self._folder.add(turns, extra)
        if self._build.remember is not None:
            self._build.remember(dialogues, rows)
        batches = [
            ColumnBatch(Turn, {}, (turns if self._folder else turns.filter(rows["is_new"])).to_dict()),
            self._dialogue_batch(dialogues, facts),
            self._record_batch(dialogues, facts, extra),
            *speakers.batches,
            *labelled.batches,
            *self._labels_of_dialogues(dialogues, facts),
        ]
        size = int(len(rows) * self._bytes_a_row)
        filled = [batch for batch in batches if len(batch)]
        rows_by_one = [*speakers.rows, *labels_inside(rows)]
        return LoadedBatch(self._file, len(dialogues), size, rows_by_one, filled, findings.findings)

    def _in_utc(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Read the times anew where all of the file are stored in UTC, which was known only at its end."""
        iso = [name for name in TIMES if self._forms.get(name) == ISO and name in rows.columns]
        return rows.with_columns(
            read_times(rows[name], ISO_UTC)["value"].alias(TimeColumns.of(name).value) for name in iso
        )

    def _in_order(self, rows: pl.DataFrame) -> pl.DataFrame:
        if ORDER in rows.columns:
            return self._numbered(by_places(rows))
        if self._build.declaration.turn.is_reversed:
            return self._numbered(rows.sort(NUMBER, -pl.col(POSITION)))
        if self._build.declaration.format != "convokit":
            return self._numbered(rows)
        rows = self._numbered(by_time(rows))
        places = places_by_replies(rows)
        return rows if places is None else self._numbered(rows.sort(NUMBER, places))

    def _numbered(self, rows: pl.DataFrame) -> pl.DataFrame:
        rows = rows.with_columns(pl.col(NUMBER).rle_id().cast(pl.Int64).alias(OWNER))
        starts = rows.select(pl.arg_where(pl.col(OWNER) != pl.col(OWNER).shift(1, fill_value=-1))).to_series()
        index = pl.int_range(len(rows), eager=True) - starts.gather(rows[OWNER])
        index += 0 if self._folder is None else self._folder.count
        return rows.with_columns(index.cast(pl.Int32).alias(TURN_INDEX))

    def _roles(self, rows: pl.DataFrame) -> list[pl.Series]:
        if ROLE not in rows.columns:
            return [pl.repeat(NO_ROLE, len(rows), eager=True).alias(OURS)]
        roles, words = self._build.roles, rows[ROLE].drop_nulls().unique().to_list()
        meanings = {word: roles.role_of(word) for word in words}
        back = {word: roles.gives_back(word) for word in words}
        role = rows[ROLE].replace_strict(meanings, default=NO_ROLE, return_dtype=pl.String)
        is_back = rows[ROLE].replace_strict(back, default=False, return_dtype=pl.Boolean)
        return [role.alias(OURS), is_back.alias("role.back")]

    def _dialogues(self, rows: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
        native = pl.col(ID).first() if ID in rows.columns else pl.lit(None, pl.String).first()
        line, position = pl.col("line"), pl.col(POSITION)
        is_together = (position.diff().fill_null(1) == 1).all()
        dialogues = rows.group_by(NUMBER, maintain_order=True).agg(
            native_id=native, line=line.min(), lines=pl.when(~is_together).then(line.implode())
        )
        self.is_scattered |= dialogues["lines"].null_count() < len(dialogues)
        begin = self._build.identity.record_id(self._path, 0).removesuffix("0")
        record_ids = dialogues.select((pl.lit(begin) + pl.col(NUMBER).cast(pl.String)).alias("record_id"))
        dialogues = dialogues.with_columns(self._within(facts))
        return dialogues.hstack(self._keys(rows, dialogues)).hstack(record_ids)

    def _within(self, facts: pl.DataFrame) -> pl.Series:
        ids = self._build.declaration.dialogue.ids
        if ids != "split":
            return pl.repeat(ids_within(ids, self._path, ALL), len(facts), eager=True).alias("within")
        within = {split: ids_within(ids, self._path, split) for split in self._splits_of(facts).unique()}
        return self._splits_of(facts).replace_strict(within, return_dtype=pl.String).alias("within")

    def _splits_of(self, facts: pl.DataFrame) -> pl.Series:
        if SPLIT in facts.columns:
            return facts[SPLIT].fill_null(self._split)
        return pl.repeat(self._split, len(facts), eager=True)

    def _keys(self, rows: pl.DataFrame, dialogues: pl.DataFrame) -> pl.DataFrame:
        """Return the keys of dialogues, and whether each is new, the same in all, and of an id that was taken."""
        identity = self._build.identity
        is_shared = self._build.has_several_files and self._build.declaration.dialogue.ids != "file"
        if ID in rows.columns and is_shared:
            columns = [OURS, *([SPEAKER] if SPEAKER in rows.columns else []), TEXT]
            words = digests(dialogues[NUMBER], rows[NUMBER], rows.with_columns(line=line(rows, columns))["line"])
            shapes = pl.repeat(self._shapes, len(dialogues), eager=True)
            rest = digests(dialogues[NUMBER], rows[NUMBER], _all(rows), shapes)
            contents = zip(dialogues["native_id"], words, rest, dialogues["within"], strict=True)
            keys = [identity.dialogue(*content) for content in contents]
            kinds = {"dialogue_id": pl.String, "is_new": pl.Boolean, "is_same": pl.Boolean, "is_taken": pl.Boolean}
            return pl.DataFrame(keys, kinds, orient="row")
        if ID in rows.columns:
            key = pl.lit(f"{self._build.declaration.corpus_id}:") + pl.col("within") + pl.col("native_id")
        elif self._folder is not None:
            key = pl.lit(f"{self._build.declaration.corpus_id}:{self._above or '.'}")
        else:
            begin = identity.dialogue_without_id(self._path, 0).removesuffix("0")
            key = pl.lit(begin) + pl.col(NUMBER).cast(pl.String)
        return dialogues.select(
            key.alias("dialogue_id"),
            is_new=pl.lit(value=self._folder is None or self._folder.count == 0),
            is_same=pl.lit(value=True),
            is_taken=pl.lit(value=False),
        )

    def _spoken(self, rows: pl.DataFrame) -> pl.DataFrame:
        there, bot = set(rows.columns), READ + IS_BOT
        spoken = rows.select(
            "dialogue_id",
            "is_new",
            owner=NUMBER,
            role=OURS,
            speaker=pl.col(SPEAKER) if SPEAKER in there else pl.lit(None, pl.String),
            shown=pl.col(NAME) if NAME in there else pl.lit(None, pl.String),
            is_bot=pl.col(bot).str.to_lowercase().is_in(_TRUE) if bot in there else pl.lit(value=False),
        )
        return spoken.with_columns(speaker_id=self._build.speakers.id("speaker")).select(SPOKEN)

    def _turns(self, rows: pl.DataFrame, extras: RowExtras, findings: RowFindings) -> pl.DataFrame:
        replied = replies(rows)
        if self._folder is not None and REPLY_TO in rows.columns:
            earlier = pl.Series(map(self._folder.ids.get, rows[REPLY_TO]), dtype=pl.Int32)
            targets = replied.targets.zip_with(~replied.lost, earlier)
            replied = replied._replace(targets=targets, lost=replied.lost & targets.is_null())
        findings.of_replies(replied)
        there = set(rows.columns)
        if REPLY_TO in there:
            extras.keep(REPLY_TO, replied.lost | replied.looped | replied.own)
        if ROLE in there:
            extras.keep(ROLE, ~rows["role.back"])
        if ORDER in there:
            extras.keep(ORDER, rows[ORDER].ne_missing(rows[TURN_INDEX].cast(pl.String)))
        if KIND in there:
            extras.keep(KIND, rows[KIND].is_null())
        turns = rows.select(
            "dialogue_id",
            TURN_INDEX,
            role=OURS,
            text=TEXT,
            kind=pl.col(KIND).fill_null("message") if KIND in there else pl.lit("message"),
            native_id=pl.col(TURN_ID) if TURN_ID in there else pl.lit(None, pl.String),
            said_at=pl.col(TimeColumns.of(SAID_AT).value) if SAID_AT in there else pl.lit(None, pl.Datetime("us")),
            reply_to=replied.targets,
        )
        for placeholder in MOMENTS:
            names = TimeColumns.of(placeholder)
            if names.value in there:
                turns = turns.with_columns(rows[names.value].alias(placeholder))
            elif placeholder in there:
                turns = turns.with_columns(_whole_number(rows, placeholder, extras, findings))
        for placeholder in (*TIMES, *MOMENTS):
            if (bad := TimeColumns.of(placeholder).bad) in there:
                findings.of_times(placeholder, rows[bad])
        return turns

    def _dialogue_batch(self, dialogues: pl.DataFrame, facts: pl.DataFrame) -> ColumnBatch:
        own = dialogues.select("dialogue_id", "native_id").hstack(facts.select(set(facts.columns) & set(_FACTS)))
        shared = {"corpus_id": self._build.declaration.corpus_id}
        if LANGUAGE not in own.columns and self._build.language is not None:
            shared[LANGUAGE] = self._build.language
        return ColumnBatch(Dialogue, shared, own.filter(dialogues["is_new"]).to_dict())

    def _record_batch(self, dialogues: pl.DataFrame, facts: pl.DataFrame, extra: pl.Series) -> ColumnBatch:
        columns = dialogues.select(
            "record_id", "dialogue_id", "native_id", record_index=NUMBER, source_pointer=pl.format("/{}", "line")
        ).with_columns(extra.alias("extra"))
        split = facts[SPLIT].fill_null(self._split) if SPLIT in facts.columns else None
        shared = {
            "corpus_id": self._build.declaration.corpus_id,
            "source_file_id": self._file.id,
            "subset": self._files.subset,
            "release": self._files.release,
        }
        if split is None:
            shared |= {"split": self._split, "standard_split": self._build.splits.standard(self._split)}
        else:
            standard = [self._build.splits.standard(name) for name in split]
            columns = columns.with_columns(split.alias("split"), pl.Series("standard_split", standard, pl.String))
        return ColumnBatch(Record, shared, columns.to_dict())

    def _labels_of_dialogues(self, dialogues: pl.DataFrame, facts: pl.DataFrame) -> Iterator[ColumnBatch]:
        for label in self._columns.labels:
            if label.placeholder.startswith(OF_DIALOGUE) and label.placeholder in facts.columns:
                labels = dialogues.select("record_id", "dialogue_id").with_columns(
                    facts[label.placeholder].alias("label")
                )
                shared = {"scheme": label.scheme, "annotator_index": label.annotator_index, "item_index": 0}
                shared["annotator_id"] = label.annotator_id
                yield ColumnBatch(Annotation, shared, labels.filter(labels["label"].is_not_null()).to_dict())


def _all(rows: pl.DataFrame) -> pl.Series:
    added = {NUMBER, POSITION, OWNER, TURN_INDEX, "line"}
    return rows.select(pl.struct(pl.exclude(*added)).struct.json_encode()).to_series()


def _whole_number(rows: pl.DataFrame, placeholder: str, extras: RowExtras, findings: RowFindings) -> pl.Series:
    """Read a place in the recording; what is none, or is written otherwise, is kept."""
    numbers = rows[placeholder].cast(pl.Int64, strict=False)
    extras.keep(placeholder, rows[placeholder].is_not_null() & numbers.cast(pl.String).ne_missing(rows[placeholder]))
    for row in (rows[placeholder].is_not_null() & numbers.is_null()).arg_true():
        findings.of_time(placeholder, row, f"{rows[placeholder][row]!r:.100} is not a whole number")
    return numbers.alias(placeholder)
