"""Times among the fields: which one it is, and in what form it is written."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from talkhouse.guess.values import Record, column, named
from talkhouse.ingest.declared.declaration.model import JsonPath
from talkhouse.ingest.declared.times import ISO, UNIX, read_time

_PATTERNS = (
    *("%Y-%m-%d %H:%M", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%Y/%m/%d", "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M"),
    *("%d.%m.%Y", "%d/%m/%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%d/%m/%Y", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M"),
    *("%m/%d/%Y", "%a %b %d %H:%M:%S %z %Y", "%a, %d %b %Y %H:%M:%S %z"),
)
"""Forms that are tried, in this order; of two that fit, the other one is named."""

_MOST_TIMES = 200


def time_of(
    records: Sequence[Record], names: Sequence[str], but: Sequence[JsonPath | None], key: str
) -> tuple[JsonPath | None, dict[str, str], dict[str, str]]:
    """Return the field that is a time, its form where that is not ISO 8601, and a remark where it may be another."""
    for path in named(records, names, but):
        values = [value for value in column(records, path) if value not in (None, "")][:_MOST_TIMES]
        forms = _forms(values)
        if forms:
            remark = {f"times.{key}": f"to do: it may be {forms[1]} as well"} if len(forms) > 1 else {}
            return path, {} if forms[0] == ISO else {key: forms[0]}, remark
    return None, {}, {}


def _forms(values: list[Any]) -> list[str]:
    """Return the forms that all of these times have."""
    if not values or all(isinstance(value, date) for value in values):
        return [ISO] if values else []
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) == len(values):
        return _since_1970([float(number) for number in numbers])
    if not all(isinstance(value, str) for value in values):
        return []
    if all(value.replace(".", "", 1).isdecimal() for value in values):
        return _since_1970([float(value) for value in values])
    forms = [form for form in (ISO, *_PATTERNS) if all(read_time(value, form).value for value in values)]
    return forms[:1] if forms[:1] == [ISO] else forms


def _since_1970(numbers: list[float]) -> list[str]:
    for form, unit in zip(UNIX, (1, 1_000), strict=True):
        if all(10**8 * unit <= number < 10**10 * unit for number in numbers):
            return [form]
    return []
