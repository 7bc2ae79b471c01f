"""Times in columns are read as they are one by one."""

from datetime import datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.declared.times import read_time, read_times

FORMS = ("iso", "%Y-%m-%d %H:%M", "%d.%m.%Y", "%Y%m%d%H%M%S", "%b %d %Y", "unix")
TIMES = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31))  # noqa: DTZ001 - wall clock times
TEXTS = st.one_of(
    st.none(),
    st.sampled_from(["", "2026-02-30 10:00", " 2026-01-02 10:00", "2026-1-2 10:00", "0999-01-01 00:00", "12", "24:00"]),
    st.tuples(TIMES, st.sampled_from(["", "Z", "+01:00"])).map(
        lambda pair: pair[0].isoformat(" ", "seconds") + pair[1]
    ),
    TIMES.map(lambda time: time.isoformat(timespec="minutes")),
    TIMES.map(lambda time: time.date().isoformat()),
    st.builds(datetime.strftime, TIMES, st.sampled_from(FORMS[1:-1])),
)


@pytest.mark.parametrize("form", FORMS)
@given(texts=st.lists(TEXTS, max_size=8))
def test_a_column_is_read_as_its_cells_are(form: str, texts: list[str | None]) -> None:
    read = read_times(pl.Series(texts, dtype=pl.String), form)
    expected = []
    for text in texts:
        value, how = (None, None) if text is None else read_time(text, form)
        expected.append((value, how, text if value is None else None))
    assert read.rows() == expected
