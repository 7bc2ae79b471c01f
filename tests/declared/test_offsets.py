"""Times with offsets from UTC: where a file has several, they are stored in UTC, and come back as they were written."""

import gzip
from pathlib import Path

import polars as pl
import pytest

from talkhouse.ingest.declared.declaration import read_declaration
from talkhouse.ingest.rows import Turn
from tests.declared.rows_loaded import Read, json_lines, json_text, read, read_back

LISTS = 'format = "dialogue"\n[dialogue]\nturns = "days[*].turns[*]"\n[turn]\ntext = "text"\nsaid_at = "when.at"\n'
TREE = 'format = "tree"\n[dialogue]\nturns = "root"\n[turn]\nsaid_at = "at"\n'
ROWS = 'format = "turns"\n[dialogue]\nid = "d"\n[turn]\ntext = "text"\nsaid_at = "at"\n'

SUMMER, WINTER = "2026-10-25T02:50:00+02:00", "2026-10-25T02:10:00+01:00"
"""Twenty minutes apart, by a clock that was put back between."""


def loaded(tables: str, files: dict[str, bytes]) -> Read:
    return read_back(f'title = "Quay"\n{tables}', files)


def times(result: Read) -> list[str]:
    return [str(turn.said_at) for turn in result.of(Turn)]


UTC = ["2026-10-25 00:50:00", "2026-10-25 01:10:00"]


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
def test_more_offsets_than_shapes_of_rows_that_are_kept() -> None:
    zones = [f"{sign}{hour:02}:{minute:02}" for sign in "+-" for hour in range(24) for minute in range(60)]
    forms = ("2026-10-25{}10:00:00{}", "2026-10-25{}10:00{}", "2026-10-25{}10:00:00.000{}")
    ends = [form.format(sign, zone) for form in forms for sign in "T _" for zone in zones]
    raw = ("d,text,at\n" + "".join(f"1,a,{end}\n" for end in ends)).encode()
    assert len(ends) > 10_000
    loaded(ROWS, {"a.csv": raw})
