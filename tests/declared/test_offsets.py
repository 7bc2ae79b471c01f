"""Times with offsets from UTC: where a file has several, they are stored in UTC, and come back as they were written."""

import gzip
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from talkhouse.ingest.declared.declaration import read_declaration
from talkhouse.ingest.declared.record_files.content import CAREFULLY
from talkhouse.ingest.rows import Dialogue, Turn
from tests.declared.rows_loaded import Read, json_lines, json_text, read, read_back

CHAT = 'format = "chat"\n[dialogue]\nid = "id"\nstarted_at = "began"\n[turn]\nsaid_at = "at"\n'
LISTS = 'format = "dialogue"\n[dialogue]\nturns = "days[*].turns[*]"\n[turn]\ntext = "text"\nsaid_at = "when.at"\n'
TREE = 'format = "tree"\n[dialogue]\nturns = "root"\n[turn]\nsaid_at = "at"\n'
ROWS = 'format = "turns"\n[dialogue]\nid = "d"\n[turn]\ntext = "text"\nsaid_at = "at"\n'

SUMMER, WINTER = "2026-10-25T02:50:00+02:00", "2026-10-25T02:10:00+01:00"
"""Twenty minutes apart, by a clock that was put back between."""


def loaded(tables: str, files: dict[str, bytes]) -> Read:
    return read_back(f'title = "Quay"\n{tables}', files)


def times(result: Read) -> list[str]:
    return [str(turn.said_at) for turn in result.of(Turn)]


def chat(*clocks: str | None, began: str | None = None) -> dict[str, object]:
    messages = [{"role": "user", "content": "a", "at": at} for at in clocks]
    return {"id": str(clocks), "began": began, "messages": messages}


UTC = ["2026-10-25 00:50:00", "2026-10-25 01:10:00"]
CLOCK = ["2026-10-25 02:50:00", "2026-10-25 02:10:00"]


@pytest.mark.parametrize("carefully", ["", "1"])
def test_a_question_before_a_change_of_the_clock_is_first(carefully: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CAREFULLY, carefully)
    files = {
        "a.jsonl": json_lines(
            chat(SUMMER, WINTER), chat(SUMMER), chat(SUMMER, None, WINTER, began=SUMMER), chat(WINTER)
        ),
        "one.jsonl": json_lines(chat(SUMMER, "2026-10-25T02:10:00+02:00")),
        "none.jsonl": json_lines(chat("2026-10-25T02:50:00", "2026-10-25T02:10:00")),
        "zero.jsonl": json_lines(chat("2026-10-25T02:50:00Z", "2026-10-25T02:10:00+00:00")),
    }
    result = loaded(CHAT, files)
    assert times(result) == [*UTC, UTC[0], UTC[0], "None", UTC[1], UTC[1], *CLOCK, *CLOCK, *CLOCK]
    assert [str(row.started_at) for row in result.of(Dialogue)][2] == UTC[0]
    assert result.places == []


@pytest.mark.slow
def test_some_with_and_some_without_stay_as_written_and_are_named_once() -> None:
    files = {"a.jsonl": json_lines(chat(SUMMER, "2026-10-25T02:20:00"), chat(WINTER), chat("2026-10-25T02:20:00"))}
    result = loaded(CHAT, files)
    assert times(result) == ["2026-10-25 02:50:00", "2026-10-25 02:20:00", "2026-10-25 02:10:00", "2026-10-25 02:20:00"]
    assert result.places == [("GF-25", "a.jsonl#")]


@pytest.mark.slow
def test_only_the_declared_times_decide() -> None:
    """Not what has the same name elsewhere, what is no time, or a record that goes to the quarantine."""
    other = {**chat(SUMMER, "2026-10-25T02:10:00+02:00"), "export": {"at": "2026-10-25T02:10:00Z"}, "at": "2026-10-25"}
    result = loaded(CHAT, {"a.jsonl": json_lines(other, {**chat(WINTER), "id": None}, chat("2026-10-25T25:00:00Z"))})
    assert times(result) == [*CLOCK, "None"]
    assert result.places == [("GF-09", "a.jsonl#/2/messages/0/at"), ("GF-01", "a.jsonl#/1/id")]
    assert times(loaded(CHAT, {"a.jsonl": json_lines({**chat(SUMMER, WINTER), "at": "2026-10-25"})})) == UTC


@pytest.mark.slow
def test_a_column_of_which_none_has_an_offset_does_not_hinder() -> None:
    result = loaded(CHAT, {"a.jsonl": json_lines(chat(SUMMER, WINTER, began="2026-10-25"))})
    assert times(result) == UTC
    assert [row.started_at for row in result.of(Dialogue)] == [datetime(2026, 10, 25)]  # noqa: DTZ001 - as written


@pytest.mark.slow
def test_every_format_and_form_of_file(tmp_path: Path) -> None:
    turns = [{"text": "a", "when": {"at": SUMMER}}, {"text": "b", "when": {"at": WINTER}}]
    record = {"days": [{"turns": turns[:1]}, {"turns": turns[1:]}]}
    tree = {"root": {"message_id": "1", "text": "a", "role": "x", "at": SUMMER}}
    tree["root"]["replies"] = [{"message_id": "2", "text": "b", "role": "x", "at": WINTER}]  # type: ignore[assignment]
    rows = [{"d": "1", "text": "a", "at": SUMMER}, {"d": "1", "text": "b", "at": WINTER}]
    cells = ("d,text,at\n" + "".join(f"1,{row['text']},{row['at']}\n" for row in rows)).encode()
    for tables, name, raw in (
        (LISTS, "a.jsonl", json_lines(record)),
        (LISTS, "a.json", json_text([record])),
        (LISTS, "a.jsonl.gz", gzip.compress(json_lines(record))),
        (LISTS, "a.jsonl", json_lines(record).replace(b"+", b"\\u002B")),
        (TREE, "a.jsonl", json_lines(tree)),
        (ROWS, "a.csv", cells),
        (ROWS, "a.jsonl", json_lines(*rows)),
    ):
        assert times(loaded(tables, {name: raw})) == UTC, (tables, name)
    pl.DataFrame([record]).write_parquet(tmp_path / "a.parquet")
    declaration = read_declaration("quay", f'title = "Quay"\n{LISTS}', "quay/corpus.toml")
    assert times(read(declaration, {"a.parquet": (tmp_path / "a.parquet").read_bytes()})) == UTC


@pytest.mark.slow
def test_times_finer_than_a_column_stay_and_are_stored_in_utc_all_the_same() -> None:
    rows = ("1,a,2026-10-25T02:50:00.1234567+02:00", "1,b,2026-10-25T02:10:00.5+01:00", "1,c,")
    result = loaded(ROWS, {"a.csv": "".join(f"{row}\n" for row in ("d,text,at", *rows)).encode()})
    assert times(result) == ["2026-10-25 00:50:00.123456", "2026-10-25 01:10:00.500000", "None"]
    assert result.places == []


@pytest.mark.slow
@pytest.mark.parametrize("tables", [CHAT, ROWS])
def test_where_a_time_cannot_be_read_nobody_knows_the_offsets_of_all(tables: str) -> None:
    texts = (SUMMER, "soon", WINTER)
    name = "a.jsonl" if tables == CHAT else "a.csv"
    rows = ("d,text,at", *(f"1,a,{at}" for at in texts))
    raw = json_lines(chat(*texts)) if tables == CHAT else "".join(f"{row}\n" for row in rows).encode()
    result = loaded(tables, {name: raw})
    assert times(result) == [CLOCK[0], "None", CLOCK[1]]
    assert [rule for rule, _ in result.places] == ["GF-09"]


@pytest.mark.slow
def test_more_offsets_than_shapes_of_rows_that_are_kept() -> None:
    zones = [f"{sign}{hour:02}:{minute:02}" for sign in "+-" for hour in range(24) for minute in range(60)]
    forms = ("2026-10-25{}10:00:00{}", "2026-10-25{}10:00{}", "2026-10-25{}10:00:00.000{}")
    ends = [form.format(sign, zone) for form in forms for sign in "T _" for zone in zones]
    raw = ("d,text,at\n" + "".join(f"1,a,{end}\n" for end in ends)).encode()
    assert len(ends) > 10_000
    loaded(ROWS, {"a.csv": raw})
