"""A warehouse without the personal data of its texts: a private copy, with marks such as ``<email>`` in their place.

Whatever is exported of the copy says the same, since all views read its tables.
"""

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypedDict

import duckdb
import msgspec
from pyarrow import lib as pa

from talkhouse.personal import PersonalData
from talkhouse.personal.find import Found, candidate_pattern, find
from talkhouse.schema import contents, warehouse
from talkhouse.schema.guard import NO_SETTINGS, Settings
from talkhouse.schema.sql import quoted
from talkhouse.schema.tables import metadata
from talkhouse.schema.warehouse import NOTHING_BESIDE
from talkhouse.system.files import no_room, temporary_folder
from talkhouse.warehouse.opened import Warehouse, opened

REMARK = (
    "Marks such as <email> stand in texts in place of what a search for personal data has found; it finds names only "
    "after an introduction or a greeting and in signatures. Records of the quarantine have no bytes. Ids are as "
    "published: see --pseudonymise."
)


class AboutRedaction(TypedDict):
    """What a manifest says of texts without personal data."""

    marks: dict[str, int]
    """How many marks of each kind stand in the texts of the warehouse, by their kinds."""
    remark: str


class _Column(NamedTuple):
    table: str
    name: str
    is_json: bool = False

    @property
    def source(self) -> str:
        return quoted(*self.table.split("."))


_COLUMNS = (
    _Column("main.turns", "text"),
    _Column("main.parts", "text"),
    _Column("main.parts", "name"),
    _Column("main.parts", "uri"),
    _Column("main.texts", "text"),
    _Column("main.personas", "text"),
    _Column("main.dialogues", "title"),
    _Column("main.dialogues", "domain"),
    _Column("main.speakers", "name"),
    _Column("main.annotations", "label"),
    _Column("main.labels", "label"),
    _Column("main.labels", "meaning"),
    _Column("main.images", "url"),
    _Column("meta.findings", "detail"),
    _Column("meta.quarantine", "detail"),
    *(
        _Column(f"main.{table.name}", column.name, is_json=True)
        for table in metadata.sorted_tables
        for column in table.columns
        if table.schema is None and column.name in ("extra", "arguments")
    ),
)
"""The columns with texts, and those of JSON with texts in them; ids and addresses of files are none."""


def marks(text: str, found: Sequence[Found]) -> str:
    """Return a text with a mark in place of each thing that was found in it."""
    for kind, start, end in reversed(found):
        text = f"{text[:start]}<{kind}>{text[end:]}"
    return text


def moved(place: int, found: Sequence[Found], *, is_end: bool) -> int:
    """Return where a place of a text is in its marked one; a place within what was replaced is at the mark's edge."""
    shift = 0
    for kind, start, end in found:
        mark = len(kind) + len("<>")
        if place >= end:
            shift += mark - (end - start)
        elif place > start:
            return start + shift + (mark if is_end else 0)
    return place + shift


def opened_for(
    path: Path, personal: PersonalData, *, settings: Settings = NO_SETTINGS, beside: Mapping[str, Path] = NOTHING_BESIDE
) -> AbstractContextManager[Warehouse]:
    """Open a warehouse whose texts go out, or the copy without personal data; as ``opened`` and ``opened_redacted``."""
    if personal is PersonalData.REDACT:
        return opened_redacted(path, settings=settings, beside=beside)
    return opened(path, settings=settings, beside=beside)


@contextmanager
def opened_redacted(
    path: Path, *, settings: Settings = NO_SETTINGS, beside: Mapping[str, Path] = NOTHING_BESIDE
) -> Iterator[Warehouse]:
    """Open a private copy of a warehouse whose texts have marks in place of personal data.

    The copy lies in the temporary folder, and needs as much room as the warehouse. ``settings`` and ``beside`` are as
    in ``opened``, which also says what is raised; OutputFailed where there is no room.
    """
    with opened(path), temporary_folder() as folder:
        copy = folder / path.name
        try:
            shutil.copyfile(path, copy)
        except OSError as error:
            raise no_room(error) from error
        copy.chmod(0o600)
        with warehouse.create(copy, guarded=True) as con:
            contents.check_before_writing(con, copy)
            found = redact(con)
        with opened(copy, settings=settings, beside=beside) as of_copy:
            yield replace(of_copy, redacted=AboutRedaction(marks=found, remark=REMARK))


def redact(con: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Put marks into all texts of a warehouse that is open for writing; return how many of each kind.

    Spans of labels and parts keep what they are about: they move with their text.
    """
    counts = Counter[str]()
    # Not in one transaction, in which row ids would be others: the file is private.
    con.execute("update meta.quarantine set raw = ''::blob")  # bytes of who knows what
    for column in _COLUMNS:
        if (column.table, column.name) == ("main.turns", "text"):
            counts += _redact_turns(con)
        else:
            counts += _redact_column(con, column)
    con.execute("checkpoint")
    return dict(sorted(counts.items()))


_BATCH = 20_000
"""Texts that Python has in memory at a time."""

_CANDIDATES = "create or replace temp table to_search as select {columns} from {source} where regexp_matches({text}, ?)"


def _batches(con: duckdb.DuckDBPyConnection) -> Iterator[list[tuple[object, ...]]]:
    """Yield the rows of the table of candidates, some at a time; other statements may run between them."""
    ((count,),) = con.execute("select count(*) from temp.to_search").fetchall()
    for start in range(0, count, _BATCH):
        yield con.execute(f"from temp.to_search where rowid >= {start} and rowid < {start + _BATCH}").fetchall()


def _redact_column(con: duckdb.DuckDBPyConnection, column: _Column) -> Counter[str]:
    name, counts = quoted(column.name), Counter[str]()
    text = f"{name}::varchar"
    query = _CANDIDATES.format(columns=f"distinct {text}", source=column.source, text=text)
    con.execute(query, [candidate_pattern()])
    written: list[tuple[str, str]] = []
    for rows in _batches(con):
        for (value,) in rows:
            new = _redacted_json(str(value), counts) if column.is_json else _redacted(str(value), counts)
            if new != value:
                written.append((str(value), new))
    if written:
        before, after = zip(*written, strict=True)
        con.register("redactions", pa.Table.from_pydict({"before": pa.array(before), "after": pa.array(after)}))
        con.execute(f"update {column.source} set {name} = after from redactions where {text} = before")
        con.unregister("redactions")
    return counts


def _redacted(text: str, counts: Counter[str], language: str | None = None) -> str:
    found = find(text, language)
    counts.update(str(item.kind) for item in found)
    return marks(text, found)


_JSON_TEXT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:(")|\Z)', re.DOTALL)


def _redacted_json(text: str, counts: Counter[str]) -> str:
    """Return a JSON text with marks in its strings; all else stays to the byte."""

    def of_string(match: re.Match[str]) -> str:
        if match[1] is None:
            return match.group()
        decoded = msgspec.json.decode(match.group(), type=str)
        new = _redacted(decoded, counts)
        return match.group() if new == decoded else msgspec.json.encode(new).decode()

    return _JSON_TEXT.sub(of_string, text)


_TURNS = "main.turns inner join main.dialogues using (dialogue_id)"
_SPANS = """
select s.rowid, s.start_index, s.end_index, dialogue_id, turn_index
from main.{table} as s semi join changed using (dialogue_id, turn_index)
where s.start_index is not null
"""


def _redact_turns(con: duckdb.DuckDBPyConnection) -> Counter[str]:
    counts = Counter[str]()
    columns = "turns.dialogue_id, turns.turn_index, turns.text, dialogues.language"
    con.execute(_CANDIDATES.format(columns=columns, source=_TURNS, text="turns.text"), [candidate_pattern()])
    for rows in _batches(con):
        changed = dict[tuple[object, object], tuple[str, list[Found]]]()
        for dialogue_id, turn_index, text, language in rows:
            if found := find(str(text), language if language is None else str(language)):
                counts.update(str(item.kind) for item in found)
                changed[dialogue_id, turn_index] = (marks(str(text), found), found)
        if changed:
            _write_turns(con, changed)
    return counts


def _write_turns(
    con: duckdb.DuckDBPyConnection, changed: Mapping[tuple[object, object], tuple[str, list[Found]]]
) -> None:
    dialogues, indexes = zip(*changed, strict=True)
    texts = [text for text, _ in changed.values()]
    table = {"dialogue_id": pa.array(dialogues), "turn_index": pa.array(indexes), "marked": pa.array(texts)}
    con.register("changed", pa.Table.from_pydict(table))
    for spans in ("annotations", "parts"):
        rows = con.execute(_SPANS.format(table=spans)).fetchall()
        places = [
            (
                row,
                moved(start, changed[dialogue_id, turn_index][1], is_end=False),
                None if end is None else moved(end, changed[dialogue_id, turn_index][1], is_end=True),
            )
            for row, start, end, dialogue_id, turn_index in rows
        ]
        if places:
            names = ("place", "new_start", "new_end")
            arrays = dict(zip(names, map(pa.array, zip(*places, strict=True)), strict=True))
            con.register("places", pa.Table.from_pydict(arrays))
            con.execute(
                f"update main.{spans} as s set start_index = new_start, end_index = new_end from places "
                "where s.rowid = places.place"
            )
            con.unregister("places")
    con.execute(
        "update main.turns set text = marked from changed "
        "where turns.dialogue_id = changed.dialogue_id and turns.turn_index = changed.turn_index"
    )
    con.unregister("changed")
