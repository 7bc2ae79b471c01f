"""Text files: a record is the file, or a line that is not blank; or lines are rows by a pattern, ``[lines]``.

A *way* is what stands between the cells of a row: a text before each, and one behind the last. The file's ways are kept
once, and of a row the number of its way, where it is not the most frequent one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, TypeAlias

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.declaration.cells import line_begin, whole_line
from talkhouse.ingest.declared.declaration.model import Lines, RecordForm
from talkhouse.ingest.declared.record_files import content as record_content
from talkhouse.ingest.declared.record_files.csv_cells import FIELD
from talkhouse.ingest.declared.record_files.csv_files import Blocks
from talkhouse.ingest.declared.record_files.json_files import lines
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.outcomes import ReaderFinding

_BLANKS = b" \t\r\n"


class TextRecords(record_content.SeparatedRecords):
    """A text file on its way in; what stands between its records, and its last line end, are no part of them."""

    def __init__(self, content: record_content.FileContent, form: RecordForm) -> None:
        """``form``: what a record is; BadRecord GF-14 for members, which a text has none of."""
        if form == "member":
            raise BadRecord("GF-14", 'a text, which has no members: record = "$" takes the file as a record')
        super().__init__(content)
        self._form = form

    def check(self, record: record_content.RawRecord) -> record_content.RawRecord | record_content.BadRawRecord:
        """Return a text as it is; one that is not UTF-8 is bad, and has no JSON."""
        if record.raw:
            return record
        verbatim = record.quarantined if record.verbatim is None else record.verbatim
        try:
            verbatim.decode()
        except UnicodeDecodeError as error:
            line = verbatim.count(b"\n", 0, error.start) + (int(record.pointer[1:]) if record.pointer else 0)
            byte = error.start - verbatim.rfind(b"\n", 0, error.start) - 1
            detail = f"line {line + 1:,}: not UTF-8: byte {verbatim[error.start]:#04x} at byte {byte:,} of the line"
            return record_content.BadRawRecord(
                record.record_index, record.pointer, verbatim, BadRecord("TH-02", detail)
            )
        raise RuntimeError("a text without JSON is one that is not UTF-8")

    def texts(self) -> Iterator[record_content.RawRecord]:
        """Yield the file, or the lines that are not blank."""
        if self._form == "file":
            self._content.file.check_record(self._content.size)
        index, gap = 0, b""
        texts = (
            [bytes(self._content.whole())]
            if self._form == "file"
            else lines(self._content.pieces(), self._content.check_line)
        )
        for number, text in enumerate(texts):
            place = "" if self._form == "file" else f"/{number}"
            end = b"\r\n" if text.endswith(b"\r\n") else b"\n" if text.endswith(b"\n") else b""
            record = text.removesuffix(end)
            if self._form == "item" and not record.strip(_BLANKS):
                gap += text
                self._content.file.check_record(len(gap), place)
                continue
            self._content.file.check_record(len(record), place)
            self._gaps.add(gap.decode())
            gap = end
            yield _raw(index, place, record)
            index += 1
        self._gaps.add(gap.decode())


def _raw(index: int, place: str, text: bytes) -> record_content.RawRecord:
    try:
        return record_content.RawRecord(index, place, msgspec.json.encode(text.decode()), verbatim=text)
    except UnicodeDecodeError:
        return record_content.RawRecord(index, place, b"", verbatim=text)


def write_text_records(layout: Mapping[str, Raw], records: Iterable[record_content.WrittenRecord]) -> Iterator[bytes]:
    """Write the texts, to the byte; yield pieces of about a megabyte."""
    texts = (
        record.raw if record.is_verbatim else msgspec.json.decode(record.raw, type=str).encode() for record in records
    )
    return record_content.with_gaps(layout, texts)


Way: TypeAlias = tuple[str, ...]

WAY = ""
"""In a row's ``cells``, where no group has this name: the number of its way, or the way itself; the whole row where its
cells are not there one behind the other."""

_MOST_WAYS = 1_000
"""Past these, a way stays with its row."""
_AT_ONCE = 16
"""Ways of which all rows of a block are tried at once; others one by one."""
_UNKNOWN = -1
_SHOWN = 60


class LineRows:
    """A text file on its way in, block by block, as ``CsvRows`` is; it can be read once."""

    def __init__(self, content: record_content.FileContent, lines: Lines, text_columns: Sequence[str]) -> None:
        """``text_columns``: the groups of which the first that says something is the text, to which lines are added."""
        self._content = content
        self.columns = list(lines.groups)
        self.findings: list[ReaderFinding] = []
        """Known when it was read."""
        self._text_fields = [FIELD(self.columns.index(column)) for column in text_columns]
        self._has_turns_beside = lines.turns == "each" and len(self._text_fields) > 1
        self._fields = [FIELD(number) for number in range(len(self.columns))]
        self._pattern = whole_line(lines.pattern)
        self._skip = None if lines.skip is None else line_begin(lines.skip)
        self._begins = None if lines.begins is None else line_begin(lines.begins)
        self._blocks = Blocks(content)
        self._gaps, self._gap = record_content.Gaps(), ""
        self._ways: dict[Way, int] = {}
        self._line = self._dialogues = self._rows = 0
        self._unplaced, self._first_unplaced = 0, (0, "")

    @property
    def envelope(self) -> dict[str, Any]:
        """The ways, and what stands between the rows but for a line feed."""
        ways = {"ways": list(self._ways)} if self._ways else {}
        return {"layout": ways | self._content.layout() | self._gaps.layout()}

    def tables(self) -> Iterator[record_content.RowTable]:
        """Yield the rows in order, some megabytes at a time; BadRecord GF-12 where the pattern fits no line."""
        text = ""
        while True:
            is_last = self._blocks.is_at_end
            table, text = self._read(text, is_last=is_last)
            if table is not None:
                yield table
            if is_last:
                break
            self._check_size(text)
            text += self._blocks.next()
        self._gaps.add(self._gap)
        if self._unplaced:
            self._say_unplaced()

    def _read(self, text: str, *, is_last: bool) -> tuple[record_content.RowTable | None, str]:
        """Read the whole rows of a text; return what may go on in the next."""
        if not text:
            return None, text
        lines = _lines_of(text)
        cells, fits = self._cells(lines["bare"])
        is_skipped = pl.lit(value=False) if self._skip is None else pl.col("bare").str.contains(self._skip) & ~fits
        lines = lines.with_columns(is_row=fits, is_begin=pl.lit(value=False), is_skipped=is_skipped)
        if self._begins is not None:
            lines = lines.with_columns(is_begin=pl.col("bare").str.contains(self._begins))
        event = (
            pl.when("is_row")
            .then(pl.lit(value=True))
            .when(pl.col("is_begin") | pl.col("is_skipped"))
            .then(pl.lit(value=False))
        )
        lines = lines.with_columns(is_open=event.forward_fill().fill_null(value=False))
        starts = lines["is_row"].arg_true()
        cut = int(starts[-1]) if len(starts) and lines["is_open"][-1] and not is_last else len(lines)
        rest = lines[cut:].select((pl.col("bare") + pl.col("end")).str.join("")).item()
        table = self._table(*self._taken_apart(lines[:cut], cells[:cut]))
        self._line += cut
        self._dialogues += int(lines["is_begin"][:cut].sum())
        return table, rest

    def _cells(self, bare: pl.Series) -> tuple[pl.DataFrame, pl.Series]:
        """Return the groups of each line, empty where one has no part in it, and whether the pattern fits it."""
        groups = bare.str.extract_groups(self._pattern).struct.unnest().select(self.columns)
        groups.columns = self._fields
        is_null = groups.select(pl.all_horizontal(pl.all().is_null())).to_series()
        doubtful = is_null.arg_true()
        fits = bare.gather(doubtful).str.contains(self._pattern)
        return groups.fill_null(""), (~is_null).scatter(doubtful, fits)

    def _taken_apart(self, lines: pl.DataFrame, cells: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Let each turn of a line stand by itself, as a line without an end, where a line may have several."""
        if not self._has_turns_beside:
            return lines, cells
        filled = pl.sum_horizontal(pl.col(name) != "" for name in self._text_fields)
        lines = lines.hstack(cells).with_columns(piece=pl.lit(0), is_several=pl.col("is_row") & (filled > 1))
        several = lines.filter("is_several")
        places, numbers, sources, owns = list[int](), list[int](), list[str](), list[list[str]]()
        for place, (row, line) in enumerate(zip(several.select(cells.columns).rows(), several["bare"], strict=True)):
            for number, (own, source) in enumerate(self._pieces(row, line)):
                places.append(place)
                numbers.append(number)
                sources.append(source)
                owns.append(own)
        is_last = pl.col("at") != pl.col("at").shift(-1)
        apart = several[places].with_columns(
            pl.DataFrame(owns, dict.fromkeys(cells.columns, pl.String), orient="row"),
            bare=pl.Series(sources, dtype=pl.String),
            piece=pl.Series(numbers, dtype=pl.Int32),
            end=pl.when(is_last.fill_null(value=True)).then("end").otherwise(pl.lit("")),
        )
        apart = apart.with_columns(is_begin=pl.col("is_begin") & (pl.col("piece") == 0))
        lines = pl.concat([lines.filter(~pl.col("is_several")), apart]).sort("at", "piece")
        return lines.with_columns(at=pl.int_range(pl.len()), line="at"), lines.select(cells.columns)

    def _pieces(self, cells: Sequence[str], source: str) -> list[tuple[list[str], str]]:
        """Cut a line before the first of the groups that belong to its second turn, and so on."""
        way = _way(cells, source)
        if len(way) == 1:
            return [(list(cells), source)]
        turns = [self._fields.index(name) for name in self._text_fields]
        turns = sorted(place for place in turns if cells[place])
        owners = [sum(place > turn for turn in turns[:-1]) for place in range(len(cells))]
        begins = [sum(map(len, (*way[: place + 1], *cells[:place]))) for place in range(len(cells))]
        cuts = [begins[owners.index(number)] for number in range(1, len(turns))]
        return [
            ([cell if owner == number else "" for cell, owner in zip(cells, owners, strict=True)], source[begin:end])
            for number, (begin, end) in enumerate(pairwise([0, *cuts, len(source)]))
        ]

    def _table(self, lines: pl.DataFrame, cells: pl.DataFrame) -> record_content.RowTable | None:
        """Make the rows of whole lines; what is in none of them is a gap."""
        cells = cells.filter(lines["is_row"])
        lines = lines.with_columns(row=pl.col("is_row").cum_sum().cast(pl.Int64) - 1)
        own = lines.filter("is_row")
        sources, gaps = own["bare"], own["end"]
        if len(own) < len(lines):
            of_row = lines.filter(_IS_OF_ROW).filter(pl.col("row") != pl.col("row").shift(-1, fill_value=-1))
            others = lines.filter(_IS_ROW_OF_SEVERAL_LINES)
            others = others.join(of_row.select("row", last="at"), on="row", how="left", maintain_order="left")
            self._note_unplaced(others)
            head = others.filter(pl.col("row") < 0)
            self._gap += head.select((pl.col("bare") + pl.col("end")).str.join("")).item()
            self._check_size(self._gap)
            joined = others.filter(pl.col("row") >= 0).group_by("row", maintain_order=True)
            added = joined.agg(_FURTHER.str.join("").alias("further"), _BEHIND.str.join("").alias("gap"))
            added = own.select("row", "end").join(added, on="row", how="left", maintain_order="left")
            further = added["further"].fill_null("")
            sources, gaps = sources + further, added["gap"].fill_null(added["end"])
            cells = cells.with_columns(self._with_further(further))
        if not len(own):
            return None
        self._rows += len(own)
        self._gaps.add(self._gap)
        for gap in gaps[:-1].rle().struct.unnest().iter_rows(named=True):
            self._gaps.add(gap["value"], gap["len"])
        self._gap = gaps[-1]
        begun = (lines["is_begin"].cum_sum().cast(pl.Int64) + self._dialogues).filter(lines["is_row"])
        return record_content.RowTable(
            cells,
            own["line"] + self._line,
            self._written_otherwise(cells, sources),
            sources.alias("text"),
            None if self._begins is None else begun,
        )

    def _with_further(self, further: pl.Series) -> list[pl.Expr]:
        """Add to the text of each row what its other lines say."""
        first = self._text_fields[0]
        field = pl.coalesce(
            *(pl.when(pl.col(name) != "").then(pl.lit(name)) for name in self._text_fields), pl.lit(first)
        )
        return [pl.col(name) + pl.when(field == name).then(further).otherwise(pl.lit("")) for name in self._text_fields]

    def _note_unplaced(self, lines: pl.DataFrame) -> None:
        """Count the lines with words that are in no row, and begin no dialogue."""
        is_placed = (pl.col("row") >= 0) & (pl.col("at") <= pl.col("last"))
        unplaced = lines.filter(~is_placed & ~pl.col("is_begin") & ~pl.col("is_skipped") & _HAS_WORDS)
        if len(unplaced) and not self._unplaced:
            self._first_unplaced = self._line + unplaced["line"][0], unplaced["bare"][0]
        self._unplaced += len(unplaced)

    def _say_unplaced(self) -> None:
        """Add the warning about lines that are in no row; where all are, the file is not of the pattern."""
        line, text = self._first_unplaced
        what = f"line {line + 1:,}: {text[:_SHOWN]!r}"
        if not self._rows:
            raise BadRecord(
                "GF-12", f"the pattern in [lines] fits no line of the file, which begins with {what}", f"/{line}"
            )
        detail = f"{self._unplaced:,} lines belong to no turn, since none stands before them; the first is {what}"
        self.findings.append(ReaderFinding("GF-10", detail, pointer=f"/{line}", severity="warn"))

    def _check_size(self, text: str) -> None:
        """Raise SourceError for lines that belong together and are more than a record may be."""
        if len(text) > self._content.file.limits.record:
            self._content.file.refuse_record(len(text), f"/{self._line}")

    def _written_otherwise(self, cells: pl.DataFrame, sources: pl.Series) -> dict[int, dict[str, str]]:
        """Return of each row that is not written in the most frequent way how it is written."""
        numbers = self._numbers(cells, sources)
        written: dict[int, dict[str, str]] = {}
        for place in (numbers != 0).arg_true():
            number: int | Way = numbers[place]
            if number == _UNKNOWN:
                number = self._number(_way(cells.row(place), sources[place]))
            if number != 0:
                written[place] = {WAY: msgspec.json.encode(number).decode()}
        return written

    def _numbers(self, cells: pl.DataFrame, sources: pl.Series) -> pl.Series:
        """Return the number of the way of each row, new ones for the first new ways; of others it is not known."""
        numbers = pl.repeat(_UNKNOWN, len(sources), dtype=pl.Int64, eager=True)
        ways = list(self._ways)[:_AT_ONCE]
        is_first, counts = not ways, list[int]()
        for number in range(_AT_ONCE):
            left = (numbers == _UNKNOWN).arg_true()
            if not len(left):
                break
            if number == len(ways):
                ways.append(_way(cells.row(left[0]), sources[left[0]]))
            woven = cells[left].select(pl.concat_str(_woven(ways[number], map(pl.col, cells.columns)))).to_series()
            some = left.filter(woven == sources.gather(left))
            numbers = numbers.scatter(some, number)
            counts.append(len(some))
        order = sorted(range(len(counts)), key=counts.__getitem__, reverse=True) if is_first else range(len(counts))
        known = {place: self._number(ways[place]) for place in order}
        return numbers.replace(
            {place: number if isinstance(number, int) else _UNKNOWN for place, number in known.items()}
        )

    def _number(self, way: Way) -> int | Way:
        """Return the number of a way, a new one for a new way; the way itself past the most."""
        if way not in self._ways and len(self._ways) < _MOST_WAYS:
            self._ways[way] = len(self._ways)
        return self._ways.get(way, way)


_HAS_WORDS = pl.col("bare").str.strip_chars(" \t\r") != ""
_IS_OF_ROW = pl.col("is_open") & (pl.col("is_row") | _HAS_WORDS)
"""Behind the last line of a row are only blank lines, and those with which another dialogue begins."""
_IS_ROW_OF_SEVERAL_LINES = ~(pl.col("is_row") & pl.col("is_row").shift(-1, fill_value=True))
_FURTHER = pl.when(pl.col("at") <= pl.col("last")).then(
    pl.when("is_row").then(pl.lit("")).otherwise("bare")
    + pl.when(pl.col("at") < pl.col("last")).then("end").otherwise(pl.lit(""))
)
"""What a line adds to the row that it belongs to."""
_BEHIND = pl.when(pl.col("at") >= pl.col("last")).then(
    pl.when(pl.col("at") > pl.col("last")).then("bare").otherwise(pl.lit("")) + pl.col("end")
)
"""What stands of a line between its row and the next."""


def _lines_of(text: str) -> pl.DataFrame:
    """Return the lines of a text: ``bare``, and the ``end`` of each, a line feed perhaps behind a return.

    ``line`` is the number of each, ``at`` its place here.
    """
    bare = pl.Series("bare", [text]).str.split("\n").explode()
    count = len(bare) - text.endswith("\n")
    lines = bare[:count].to_frame().with_columns(at=pl.int_range(count), line=pl.int_range(count), end=pl.lit("\n"))
    if count == len(bare):
        lines = lines.with_columns(end=pl.when(pl.col("at") < count - 1).then("end").otherwise(pl.lit("")))
    if "\r\n" in text:
        has_return = pl.col("bare").str.ends_with("\r") & (pl.col("end") != "")
        lines = lines.with_columns(
            bare=pl.when(has_return).then(pl.col("bare").str.strip_suffix("\r")).otherwise("bare"),
            end=pl.when(has_return).then(pl.lit("\r\n")).otherwise("end"),
        )
    return lines


def _way(cells: Sequence[str], source: str) -> Way:
    """Return the text between the cells of a row, or the row itself if they do not occur in it in order."""
    way, at = list[str](), 0
    for cell in cells:
        place = source.find(cell, at)
        if place < 0:
            return (source,)
        way.append(source[at:place])
        at = place + len(cell)
    return (*way, source[at:])


def _woven(way: Way, cells: Iterable[Any]) -> list[Any]:
    """Return the pieces of a row in their order."""
    if len(way) == 1:
        return [pl.lit(way[0])]
    first, *others = (pl.lit(piece) for piece in way)
    return [first, *chain.from_iterable(zip(cells, others, strict=True))]


def write_lines(layout: Mapping[str, Raw], rows: Iterable[record_content.WrittenRow]) -> Iterator[bytes]:
    """Write rows, to the byte; yield pieces of about a megabyte."""
    ways: list[Way] = msgspec.json.decode(layout.get("ways", Raw(b"[]")), type=list[Way])

    def text(row: record_content.WrittenRow) -> str:
        way: int | Way = msgspec.json.decode(row.as_written.get(WAY, "0"), type=int | Way)
        first, *others = ways[way] if isinstance(way, int) else way
        pieces = zip(row.cells, others, strict=True) if others else ()
        return first + "".join(chain.from_iterable(pieces))

    return record_content.with_gaps(layout, (text(row).encode() for row in rows))
