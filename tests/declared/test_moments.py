"""Moments in a recording by their form in ``[times]``: in rows, in documents, and in documents read together."""

import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.declared.record_files.content import CAREFULLY
from talkhouse.ingest.declared.times import read_moment, read_moments, write_moment
from talkhouse.ingest.rows import Turn
from talkhouse.schema.errors import RegistryError
from tests.declared.rows_loaded import Read, json_lines, read_back

CLOCK = "%H:%M:%S,%f"
ROWS = 'format = "turns"\n[dialogue]\nid = "d"\n[turn]\ntext = "text"\nstart_ms = "from"\nend_ms = "to"\n'
LISTS = 'format = "dialogue"\n[dialogue]\nturns = "turns"\n[turn]\ntext = "text"\nstart_ms = "from"\nend_ms = "to"\n'


def loaded(tables: str, form: str | None, files: dict[str, bytes]) -> Read:
    times = "" if form is None else f"[times]\nstart_ms = {json.dumps(form)}\n"  # end_ms has the same
    return read_back(f'title = "Quay"\n{tables}{times}', files)


def places(result: Read) -> list[tuple[int | None, int | None]]:
    return [(turn.start_ms, turn.end_ms) for turn in result.of(Turn)]


@pytest.mark.slow
@pytest.mark.parametrize("carefully", ["", "1"])
def test_documents_have_clocks_and_seconds_too(carefully: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CAREFULLY, carefully)
    clocks = json_lines(
        *({"turns": [{"text": "a", "from": "00:00:01,500", "to": "00:00:02,5"}]} for _ in range(40)),
        {
            "turns": [
                {"from": None, "text": "b", "to": "99:00:00,000"},
                {"text": "c", "from": "", "to": "00:00:01,0004"},
            ]
        },
    )
    result = loaded(LISTS, CLOCK, {"a.jsonl": clocks})
    assert places(result) == [(1500, 2500)] * 40 + [(None, 356_400_000), (None, 1000)]
    assert result.places == []
    seconds = (
        b'{"turns":[{"text":"a","from":12.50,"to":"13"},{"text":"b","from":0,"to":3.4000000000000004}]}\n'
        b'{"turns":[{"text":"c","from":-0.25,"to":1e1}]}\n'
    )
    result = loaded(LISTS, "seconds", {"a.jsonl": seconds})
    assert places(result) == [(12_500, 13_000), (0, 3400), (-250, None)]
    assert result.places == [("GF-09", "a.jsonl#/1/turns/0/to")]


@pytest.mark.slow
@pytest.mark.parametrize(("tables", "name"), [(ROWS, "a.csv"), (LISTS, "a.jsonl")])
@pytest.mark.parametrize("form", [CLOCK, None])
def test_many_of_another_form_are_named_100_times_and_counted_once(tables: str, name: str, form: str | None) -> None:
    cells = [f"{number} o'clock" for number in range(1_000)]
    csv = "d,text,from,to\n" + "".join(f"1,a,{cell},\n" for cell in cells)
    raw = csv.encode() if name == "a.csv" else json_lines({"turns": [{"text": "a", "from": cell} for cell in cells]})
    result = loaded(tables, form, {name: raw})
    assert [finding.rule for finding in result.findings] == ["GF-09"] * 101
    assert result.findings[-1].detail == "900 more in 'from' are not of the declared time_format"
    assert len(places(result)) == 1_000


@pytest.mark.slow
@pytest.mark.parametrize("form", ["", "second", "%Y", "%f", "%M:%M", "%S%f", "%H:%f", "%I:%M", "%S,%f,%f", "unix"])
def test_a_form_that_is_none_is_refused_at_its_line(form: str) -> None:
    with pytest.raises(RegistryError, match="'start_ms' in \\[times\\] can't be") as caught:
        loaded(ROWS, form, {})
    assert "corpus.toml:10" in str(caught.value)


FORMS = ("", "seconds", CLOCK, "%M:%S.%f", "%H%M%S", "%S", "[%H.%M] %%%S(%f)+", "%f/%S")
PARTS = st.tuples(*[st.integers(0, 120)] * 3, st.text("0123456789", max_size=7))


def written(form: str, parts: tuple[int, int, int, str], width: int) -> str:
    hours, minutes, seconds, fraction = parts
    values = {"%H": hours, "%M": minutes, "%S": seconds}
    for piece, number in values.items():
        form = form.replace(piece, f"{number:0{width}}")
    return form.replace("%f", fraction).replace("%%", "%") if "%" in form else f"{hours}.{fraction}"


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@given(texts=st.lists(st.builds(written, st.sampled_from(FORMS), PARTS, st.integers(1, 3)) | st.none(), max_size=8))
def test_a_place_that_the_column_gives_back_is_written_as_it_was(form: str, texts: list[str | None]) -> None:
    columns = read_moments(pl.Series(texts, dtype=pl.String), form)
    for text, (value, how, bad) in zip(texts, columns.rows(), strict=True):
        if text is not None:
            assert (value, how) == read_moment(text, form)
            assert (bad is None) == (value is not None)
            assert how is None or write_moment(value, how) == text
