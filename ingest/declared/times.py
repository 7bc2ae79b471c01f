"""Times, and moments in a recording, read by their format and written again; and the offsets of a file's times."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import msgspec
import polars as pl

from talkhouse.ingest.declared.declaration import model
from talkhouse.ingest.declared.record_files.content import RecordFile
from talkhouse.ingest.outcomes import ReaderFinding

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - wall clock times, as published
_NONE = timedelta(0)
NO_OFFSET, NO_TIME = datetime(1, 1, 1), datetime(1, 1, 2)  # noqa: DTZ001 - no times
"""Stands for the offset of a time that has none."""
_TAIL = re.compile(r"(?:[.,](\d+))?(Z|[+-]\d\d(?::?\d\d)?)?\Z")
_PRECISION = {None: "seconds", 3: "milliseconds", 6: "microseconds"}


class ReadTime(NamedTuple):
    """A time as a column has it, and how the file writes it."""

    value: datetime | None
    """The wall clock as published, without a zone, or UTC; None if the text has another format."""
    how: str | None
    """For ``write_time``, part of the placeholder's name in the shape; None if the column can't restore the text."""


def read_time(text: str, time_format: str = model.ISO, *, is_number: bool = False) -> ReadTime:
    """Read a time: ``time_format`` is ISO, ISO_UTC, ``unix``, ``unix_ms`` or a pattern of strftime.

    ``is_number``: it is a JSON number.
    Numbers since 1970 are read from texts too, which no column gives back.
    """
    try:
        if time_format in model.UNIX:
            value, how = _since_1970(text, model.UNIX[time_format]), time_format
        elif time_format == model.ISO:
            value, how = _iso(text)
        elif time_format == model.ISO_UTC:
            clock = read_time(text)
            return clock._replace(value=None if clock.value is None else clock.value - (offset_of(text) or _NONE))
        elif time_format == model.ISO_OFFSET:
            return ReadTime(_as_time(text), time_format)
        else:
            plain, how = (
                time_format.as_english(text) if isinstance(time_format, model.HalfDays) else (text, time_format)
            )
            value = datetime.strptime(plain, time_format).replace(tzinfo=None)  # noqa: DTZ007 - the wall clock
        value.isoformat().encode()
        return ReadTime(
            value, how if is_number == (time_format in model.UNIX) and write_time(value, how) == text else None
        )
    except (ValueError, OverflowError, InvalidOperation):
        return ReadTime(None, None)


def offset_of(text: str) -> timedelta | None:
    """Return the offset of a time in ISO 8601, or None if it has none; raises ValueError for what is no time."""
    return datetime.fromisoformat(text).utcoffset()


def _as_time(text: str) -> datetime:
    """Return the offset of a time, from 1970, so that it goes through a column of times."""
    try:
        offset = offset_of(text)
    except ValueError:
        return NO_TIME
    return NO_OFFSET if offset is None else EPOCH + offset


@lru_cache(maxsize=256)
def _offset_of_zone(how: str) -> timedelta:
    return offset_of(f"2026-01-02T03:04:05{how.rpartition('|')[2]}") or _NONE


def write_time(value: datetime, how: str, *, is_utc: bool = False) -> str:
    """Write a time as the file did; ``is_utc``: it is stored in UTC."""
    if how in model.UNIX:
        return f"{Decimal((value - EPOCH) // timedelta(microseconds=1)) / model.UNIX[how]:f}"
    if not how.startswith(model.ISO):
        return value.strftime(how)
    separator, precision, zone = how[len(model.ISO) + 1], *how[len(model.ISO) + 2 :].split("|")
    if precision == "day":
        return value.date().isoformat()
    clock = value + _offset_of_zone(how) if is_utc else value
    return clock.isoformat(separator, precision) + zone


def _since_1970(text: str, unit: int) -> datetime:
    micros = Decimal(text) * unit
    if not micros.is_finite():
        raise ValueError(text)
    return EPOCH + timedelta(microseconds=int(micros))


def _iso(text: str) -> tuple[datetime, str]:
    """Read ISO 8601; how: the separator, the precision, and the zone as written."""
    value = datetime.fromisoformat(text)
    if len(text) <= len("2026-01-02"):
        return value.replace(tzinfo=None), f"{model.ISO}:Tday|"
    tail = _TAIL.search(text, len("2026-01-02"))
    digits, zone = (tail[1], tail[2] or "") if tail else (None, "")
    body = len(text) - len(zone)
    precision = (
        "minutes" if body == len("2026-01-02T03:04") else _PRECISION.get(len(digits) if digits else None, "auto")
    )
    return value.replace(tzinfo=None), f"{model.ISO}:{text[10]}{precision}|{zone}"


class ReadMoment(NamedTuple):
    """A moment in a recording as a column has it, and how the file writes it."""

    value: int | None
    """Milliseconds, rounded; None if the text has another format."""
    how: str | None
    """For ``write_moment``; empty: as a whole number; None if the column can't restore the text."""


MILLISECONDS = ""
"""The format of a moment that is a whole number of milliseconds."""

_WHOLE = re.compile(r"-?[0-9]{1,19}")
_DECIMAL = re.compile(r"-?[0-9]{1,12}(?:\.([0-9]{1,30}))?")
_LARGEST = 2**63 - 1
_UNITS = {"H": 3_600_000, "M": 60_000, "S": 1_000}
_PIECES = re.compile(r"%(.)|[^%]+", re.DOTALL)


def read_moment(text: str, time_format: str = MILLISECONDS) -> ReadMoment:
    """Read a moment: ``time_format`` is MILLISECONDS, ``seconds``, or a clock, whose largest unit has no end."""
    match time_format:
        case "":
            value = int(text) if _WHOLE.fullmatch(text) else None
            if value is None or abs(value) > _LARGEST:
                return ReadMoment(None, None)
            return ReadMoment(value, "" if str(value) == text else None)
        case "seconds":
            number = _DECIMAL.fullmatch(text)
            if number is None:
                return ReadMoment(None, None)
            value, digits = round(Decimal(text) * 1000), len(number[1] or "")
            how = f"{time_format}0{digits}"
        case _:
            pattern, largest = _clock(time_format)
            clock = pattern.fullmatch(text)
            if clock is None:
                return ReadMoment(None, None)
            units = clock.groupdict()
            fraction = units.pop("f", "")
            value = sum(int(number) * _UNITS[unit] for unit, number in units.items())
            value += (int(f"{fraction}000000"[:6]) + 500) // 1000
            digits, width = len(fraction), len(units[largest])
            how = f"{time_format}{2 if units[largest][0] != '0' and width > 1 else width}{digits}"
    return ReadMoment(value, how if digits < 10 and write_moment(value, how) == text else None)


def write_moment(value: int, how: str) -> str:
    """Write a moment as the file did."""
    if not how:
        return str(value)
    time_format, width, digits = how[:-2], int(how[-2]), int(how[-1])
    if time_format == model.SECONDS:
        return f"{Decimal(value) / 1000:.{digits}f}"
    _, largest = _clock(time_format)
    written = {"%": "%", "f": f"{value % 1000:03}000000"[:digits]}
    for unit, size in _UNITS.items():
        if f"%{unit}" in time_format:
            number, value = divmod(value, size)
            written[unit] = f"{number:0{width if unit == largest else 2}}"
    return "".join(written[piece[1]] if piece[1] else piece[0] for piece in _PIECES.finditer(time_format))


@lru_cache(maxsize=64)
def _clock(time_format: str) -> tuple[re.Pattern[str], str]:
    """Return the pattern of a clock's times, and the largest of its units, which may have any number of digits."""
    pieces = list(_PIECES.finditer(time_format))
    largest = next(unit for unit in _UNITS if any(piece[1] == unit for piece in pieces))
    digits = dict.fromkeys(_UNITS, "[0-5][0-9]") | {largest: "[0-9]{1,9}", "f": "[0-9]{1,6}"}
    texts = [
        re.escape(piece[0]) if piece[1] is None else "%" if piece[1] == "%" else f"(?P<{piece[1]}>{digits[piece[1]]})"
        for piece in pieces
    ]
    return re.compile("".join(texts)), largest


def read_moments(texts: pl.Series, time_format: str) -> pl.DataFrame:
    """Read a column of moments: ``value``, ``how`` each is written, and ``bad``, the texts of another format."""
    return _one_by_one(texts, lambda text: read_moment(text, time_format), pl.Int64())


def not_a_time(text: str, time_format: str) -> str:
    """Return the detail of a finding about a time of another format."""
    return f"{text!r:.100} is not a time of the time_format {time_format}"


_MOST_NAMED = 100


class BadTimes:
    """The times of a file that have another format than declared: the first of a column are named, the rest counted."""

    def __init__(self) -> None:
        self._counts = Counter[str]()

    def is_named(self, column: str) -> bool:
        """Count one of a column, and return whether it is to be named."""
        self._counts[column] += 1
        return self._counts[column] <= _MOST_NAMED

    def rest(self) -> Iterator[ReaderFinding]:
        """Yield a finding for each column of which some were only counted."""
        for column, count in self._counts.items():
            if count > _MOST_NAMED:
                detail = f"{count - _MOST_NAMED:,} more in {column!r:.100} are not of the declared time_format"
                yield ReaderFinding("GF-09", detail)


_DIRECTIVES = re.compile(r"(?:%[YymdHMSIp]|[^%])*")
"""Patterns of which Polars and Python make the same, wherever what is read gives the text back: but for the year 69."""
_DIRECTIVE = re.compile("%(.)")
_YEARS, _YEARS_OF_TWO_DIGITS = (1000, 9999), (1969, 2068)
"""Those that are written again with their digits; 69 is 1969 to Python, and 2069 to Polars."""

_CLOCKS = {"minutes": "T%H:%M", "seconds": "T%H:%M:%S", "day": ""}

_DECIMAL_NUMBER = r"^(?<whole>0|[1-9][0-9]{0,14})(?:\.(?<fraction>[0-9]{1,12}))?$"
"""Numbers since 1970 that are exact in microseconds, but for what is cut off."""
_LAST_MICROSECOND = 253_402_300_799_999_999
"""Since 1970, of the year 9999."""


def read_times(texts: pl.Series, time_format: str, *, is_number: bool = False) -> pl.DataFrame:
    """Read a column of times: ``value``, ``how`` each is written, and ``bad``, the texts of another format.

    ``is_number``: in the file they are JSON numbers.
    """

    def read(text: str) -> ReadTime:
        return read_time(text, time_format, is_number=is_number)

    if time_format in model.UNIX:
        quick: pl.DataFrame | None = _since_1970_together(texts, time_format, is_number=is_number)
    else:
        quick = None if is_number else _by_pattern(texts, time_format)
    if quick is None:
        return _one_by_one(texts, read, pl.Datetime("us"))
    quick = quick.with_columns(bad=pl.lit(None, pl.String))
    rest = (quick["value"].is_null() & texts.is_not_null()).arg_true()
    if not len(rest):
        return quick
    slow = _one_by_one(texts.gather(rest), read, pl.Datetime("us")).with_columns(row=rest)
    return quick.with_row_index("row").update(slow, on="row").drop("row")


def _since_1970_together(texts: pl.Series, time_format: str, *, is_number: bool) -> pl.DataFrame:
    """Read decimals, ``value`` and ``how`` of each; null for a number that is written otherwise."""
    unit = model.UNIX[time_format]
    places = len(str(unit)) - 1
    numbers = texts.str.extract_groups(_DECIMAL_NUMBER).struct.unnest()
    whole, fraction = pl.col("whole").cast(pl.Int64), pl.col("fraction").fill_null("")
    micros = whole * unit + fraction.str.slice(0, places).str.pad_end(places, "0").cast(pl.Int64)
    is_known = (whole <= _LAST_MICROSECOND // unit).fill_null(value=False)
    is_restored = pl.lit(is_number) & (fraction.str.len_bytes() <= places) & ~fraction.str.ends_with("0")
    return numbers.select(
        value=pl.when(is_known).then(micros).cast(pl.Datetime("us")),
        how=pl.when(is_known & is_restored).then(pl.lit(time_format)),
    )


def _by_pattern(texts: pl.Series, time_format: str) -> pl.DataFrame | None:
    """Read texts of the usual format, ``value`` and ``how`` of each, others as null; None if Polars can't read it."""
    usual = _usual(texts, time_format)
    if usual is None:
        return None
    how, pattern = usual
    written = texts if time_format.startswith(model.ISO) else _padded(texts, pattern)
    try:
        values = written.str.to_datetime(pattern, time_unit="us", strict=False)
    except pl.exceptions.ComputeError:  # an hour without a minute, or of twelve without its half of the day
        return None
    years = _YEARS_OF_TWO_DIGITS if "%y" in pattern else _YEARS
    is_known = (values.dt.to_string(pattern) == written) & values.dt.year().is_between(*years)
    stored = values - _offset_of_zone(how) if time_format == model.ISO_UTC else values
    return pl.select(value=pl.when(is_known).then(stored), how=pl.when(is_known & (texts == written)).then(pl.lit(how)))


def _padded(texts: pl.Series, pattern: str) -> pl.Series:
    """Return ``3/14/21, 9:05 pm`` as ``03/14/21, 09:05 PM``, which is the same time to ``strptime``.

    A text is left as it is where another field of it lacks a digit, and where the pattern has words of its own.
    """
    separators = _DIRECTIVE.split(pattern)[::2]
    if any(re.search(r"\w", separator) for separator in separators):
        return texts
    digits = {"Y": "[0-9]{4}", "y": "[0-9]{2}", "p": "(?:AM|PM|am|pm)"}
    pieces = [digits.get(directive, "[0-9]{1,2}") for directive in _DIRECTIVE.findall(pattern)]
    fields = zip(separators, [*pieces, ""], strict=True)
    spelt = texts.str.contains("^" + "".join(pl.escape_regex(separator) + piece for separator, piece in fields) + "$")
    padded = texts.str.replace_all(r"\b([0-9])\b", "0$1").str.to_uppercase()
    return padded.zip_with(spelt.fill_null(value=False), texts)


def _usual(texts: pl.Series, time_format: str) -> tuple[str, str] | None:
    """Return the usual spelling of the times, and the pattern of that; None where Polars is not to read it."""
    if time_format == model.ISO_OFFSET:
        return None
    if not time_format.startswith(model.ISO):
        return (time_format, time_format) if _DIRECTIVES.fullmatch(time_format) else None
    how = next((how for text in texts.drop_nulls().head(1) if (how := read_time(text).how)), None)
    if how is None:
        return None
    separator, precision, zone = how[len(model.ISO) + 1], *how[len(model.ISO) + 2 :].split("|")
    clock = _CLOCKS.get(precision)
    if clock is None or separator == "%":
        return None
    return how, "%Y-%m-%d" + clock.replace("T", separator) + zone


def _one_by_one(texts: pl.Series, read: Callable[[str], ReadTime | ReadMoment], kind: pl.DataType) -> pl.DataFrame:
    known: dict[str | None, tuple[Any, ...]] = {None: (None, None, None)}
    for text in texts.drop_nulls().unique():
        value, how = read(text)
        known[text] = value, how, text if value is None else None
    columns = zip(*(known[text] for text in texts), strict=True) if len(texts) else ((), (), ())
    kinds = {"value": kind, "how": pl.String(), "bad": pl.String()}
    named = zip(kinds.items(), columns, strict=True)
    return pl.DataFrame([pl.Series(name, column, kind) for (name, kind), column in named])


SAID_AT, STARTED_AT = "said_at", "started_at"

Offset: TypeAlias = timedelta | None
"""The offset of a time, or None if it has none."""


class Offsets:
    """The offsets of the times of a file, by their keys."""

    def __init__(self) -> None:
        self._of_keys: defaultdict[str, set[Offset]] = defaultdict(set)
        self.has_others = False
        """Whether a text is no time, so that its offset is unknown."""

    def add(self, key: str, offset: Offset) -> None:
        """Note that a time has an offset, or has none."""
        self._of_keys[key].add(offset)

    @property
    def are_several(self) -> bool:
        """Whether there are two or more."""
        return len(set[Offset]().union(*self._of_keys.values()) - {None}) > 1

    @property
    def mixed(self) -> str | None:
        """A key of which some times have an offset and some have none, so that their order is unknown."""
        return next((key for key, offsets in self._of_keys.items() if None in offsets and len(offsets) > 1), None)

    @property
    def is_utc(self) -> bool:
        """Whether the times are stored in UTC; a key of which none has an offset does not count."""
        return self.are_several and self.mixed is None and not self.has_others

    def findings(self) -> Iterator[ReaderFinding]:
        """Yield what there is to say of a file of which some times have an offset and some have none."""
        if self.mixed is not None:
            detail = f"some times of {self.mixed} have an offset from UTC and some have none: all are stored as written"
            yield ReaderFinding("GF-25", detail)


def paths_of_times(declaration: model.Declaration) -> list[model.JsonPath]:
    """Return the paths of the times in documents that may have an offset."""
    tables: dict[str, Any] = {SAID_AT: declaration.turn, STARTED_AT: declaration.dialogue}
    paths = [
        path
        for key, table in tables.items()
        if declaration.times.get(key, model.ISO) == model.ISO
        for path in (getattr(table, key), *table.fallbacks.get(key, ()))
    ]
    return [path for path in paths if path]


def with_form(declaration: model.Declaration, time_format: str) -> model.Declaration:
    """Return a declaration whose times in ISO 8601 have another format: ISO_UTC, or ISO_OFFSET."""
    forms = dict.fromkeys((SAID_AT, STARTED_AT), time_format) | dict(declaration.times)
    return declaration if time_format == model.ISO else replace(declaration, times=forms)


def offsets_of_names(records: RecordFile, paths: Collection[model.JsonPath]) -> set[Offset]:
    """Return the offsets of all times in a file that are members of the last names of these paths, wherever they are.

    Where a path ends with an item of a list, those of all texts count.

    Takes two to three hundredths of the time that loading them takes.
    """
    names = frozenset(next((name for name in reversed(path) if isinstance(name, str)), "") for path in paths)
    keys = {key for name in names for key in (msgspec.json.encode(name), json.dumps(name).encode())}
    is_member = all(isinstance(path[-1], str) for path in paths)
    time = rb"(?:%s)[ \t\r\n]*:[ \t\r\n]*" % b"|".join(map(re.escape, sorted(keys))) if is_member else b""
    time += rb'"\d[^"\\]{9}[^"\\]?+[ :.,\d]*+'
    pattern = another = re.compile(time + rb'((?:[^"\\]|\\.){0,40})"')  # no offset is longer, be it all escapes
    endings = set[bytes]()
    for piece in records.glance(names):
        # Mostly all times end in the same way, so that a search for another ending makes no text of each.
        if another.search(piece):
            endings.update(pattern.findall(piece))
            another = re.compile(time + rb'(?!(?:%s)")' % b"|".join(map(re.escape, endings)))
    return {offset for ending in endings for offset in _offsets(ending)}


def _offsets(ending: bytes) -> Iterator[Offset]:
    """Yield the offset that a time ends with, where it is a time; some programs write ``+`` as an escape."""
    try:
        yield offset_of("2026-01-02T03:04:05" + msgspec.json.decode(b'"' + ending + b'"', type=str))
    except (ValueError, msgspec.DecodeError):
        return
