"""Times in columns are read as they are one by one."""

from datetime import datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.declared.times import read_time, read_times

FORMS = (
    *("iso", "unix", "unix_ms"),
    *("%Y-%m-%d %H:%M", "%d.%m.%Y", "%Y%m%d%H%M%S", "%b %d %Y", "%Y-%m-%d %H", "%H:%M %p", "%d %H h"),
    *("%m/%d/%y, %I:%M %p", "%d/%m/%Y, %I:%M:%S\u202f%p", "%d.%m.%y, %H:%M", "%y%m%d%H%M", "%Y %y-%m-%d"),
    *("%m/%d/%Y %H:%M:%S", "%y-%m-%dT%H:%M", "[%I:%M:%S %p] %d 5 %m %y", "%H%p %d/%m %I:%M/%y"),
)
TIMES = st.one_of(
    st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)),  # noqa: DTZ001 - wall clock times
    st.datetimes(datetime(1967, 1, 1), datetime(2071, 1, 1)),  # noqa: DTZ001 - those whose year has two digits
)


def _respelt(text: str, old: str, new: str) -> str:
    return text.replace(old, new)


TEXTS = st.one_of(
    st.none(),
    st.sampled_from(["", "2026-02-30 10:00", " 2026-01-02 10:00", "2026-1-2 10:00", "0999-01-01 00:00", "12", "24:00"]),
    st.sampled_from(
        ["2/30/21, 9:05 PM", "3/14/1, 9:05 PM", "0/1/21, 9:05 PM", "3/14/21, 0:05 PM", "3/14/21, 13:05 PM"]
    ),
    st.sampled_from(["31.12.21, 23:59:60", "31/12/2021, 9:05:60\u202fpm", "1/1/69, 1:01 AM", "1/1/68, 1:01 am"]),
    st.tuples(TIMES, st.sampled_from(["", "Z", "+01:00"])).map(
        lambda pair: pair[0].isoformat(" ", "seconds") + pair[1]
    ),
    TIMES.map(lambda time: time.isoformat(timespec="minutes")),
    TIMES.map(lambda time: time.date().isoformat()),
)
WRITTEN = TIMES.flatmap(lambda time: st.sampled_from(FORMS[3:]).map(time.strftime))
RESPELT = st.builds(
    _respelt,
    WRITTEN,
    st.sampled_from(["0", "/0", " 0", "AM", "PM", "\u202f", " ", ",", "1", "05", "20", ":"]),
    st.sampled_from(["", "/", " ", "am", "pm", "Pm", "\u202f", "\t", "\n", "٣", "\uff13", "5", "60", "00"]),
)
NUMBERS = st.one_of(
    st.integers(-(10**13), 10**19).map(str),
    st.integers(0, 2 * 10**9).map(str),
    st.floats(0, 2e12).map(str),
    st.decimals(-3, 2_000_000_000_000, places=7, allow_nan=False).map(str),
    st.from_regex(r"\A-?[0-9]{1,13}\.[0-9]{0,13}\Z"),
    st.sampled_from(["253402300799", "253402300800", "253402300799.999999", "253402300799.9999999", "253402300799999"]),
    st.sampled_from(["-0", "0.0", "007", "1e3", "+5", " 5", "5\n", "\uff15", "1_000", "NaN", "Infinity", "5.10", "5."]),
)


@pytest.mark.parametrize("is_number", [False, True])
@pytest.mark.parametrize("form", FORMS)
@given(texts=st.lists(st.one_of(TEXTS, WRITTEN, RESPELT, NUMBERS), max_size=8))
def test_a_column_is_read_as_its_cells_are(form: str, is_number: bool, texts: list[str | None]) -> None:
    read = read_times(pl.Series(texts, dtype=pl.String), form, is_number=is_number)
    expected = []
    for text in texts:
        value, how = (None, None) if text is None else read_time(text, form, is_number=is_number)
        expected.append((value, how, text if value is None else None))
    assert read.rows() == expected


UNPADDED = "%m/%d/%y, %I:%M %p"


def test_a_year_of_two_digits_is_of_its_century() -> None:
    texts = [f"{day}/14/{year:02}, 09:05 PM" for year in range(100) for day in ("3", "03")]
    assert read_times(pl.Series(texts), UNPADDED)["value"].to_list() == [
        read_time(text, UNPADDED).value for text in texts
    ]


@pytest.mark.parametrize(
    ("form", "texts"),
    [
        (UNPADDED, ["3/14/21, 9:05 PM", "12/1/68, 12:00 am", "03/14/21, 09:05 PM"]),
        ("%d/%m/%Y, %I:%M:%S\u202f%p", ["31/1/2026, 6:03:12\u202fPM"]),
        ("unix", ["1700000000", "1700000000.25", "1700000000.1234567", "0"]),
        ("unix_ms", ["1700000000000", "1700000000000.5"]),
    ],
)
def test_the_usual_ones_are_read_together(form: str, texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [read_time(text, form).value for text in texts]
    monkeypatch.setattr("talkhouse.ingest.declared.times.read_time", None)
    assert read_times(pl.Series(texts), form)["value"].to_list() == expected
