"""Which rows an export has: those of a release, of subsets, of an expression; and what it says of them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

import talkhouse
from talkhouse.export.composition import composition, notes, warnings
from talkhouse.export.export import Exported, export
from talkhouse.export.selection import NO_FILTERS, Filters, select
from talkhouse.schema.errors import QueryFailed, UsageError
from talkhouse.warehouse.opened import Warehouse
from tests.commands import run
from tests.samples import GROUPS, PICTURES, POSTS, RELEASES, SUGGESTIONS

TASK = f"{RELEASES}.breakdown_detection"
Connection = duckdb.DuckDBPyConnection
FIRST, REVISED = RELEASES, f"{RELEASES}_revised"
"""Two of its releases; the third is dev_zips."""


def described(exported: Exported) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads(exported.manifest.read_text(encoding="utf-8"))
    return manifest


def rows(con: Connection, condition: str, columns: str = "*") -> list[Any]:
    query = f"select {columns} from {TASK} where {condition} order by release, split, example_index"
    return con.execute(query).fetchall()


def selected(con: Connection, filters: Filters, name: str = TASK) -> list[Any]:
    return con.execute(select(Warehouse(con), name, filters).sql()).fetchall()


EXPRESSION = "label <> 'O'  and turn_index > (select min(turn_index) from main.turns) -- not at the start"


def test_an_export_has_the_rows_of_all_filters_and_says_so(con: Connection, tmp_path: Path) -> None:
    filters = Filters("dev", FIRST, ("CIC_115", "YI_100"), EXPRESSION)
    condition = f"split = 'dev' and release = '{FIRST}' and subset in ('CIC_115', 'YI_100') and label <> 'O'"
    wanted = rows(con, f"{condition} and turn_index > 0", "record_id, turn_index")
    exported = export(Warehouse(con), TASK, tmp_path / "a.csv", filters=filters, columns=["record_id", "turn_index"])
    assert (tmp_path / "a.csv").read_text().splitlines()[1:] == [f'"{record}",{turn}' for record, turn in wanted]
    manifest = described(exported)
    assert [manifest[key] for key in ("split", "release", "subsets", "where")] == [
        *("dev", FIRST, ["CIC_115", "YI_100"], EXPRESSION)
    ]
    assert sum(part["rows"] for part in manifest["composition"]) == manifest["rows"] == len(wanted) > 0
    assert {part["subset"] for part in manifest["composition"]} == {"CIC_115", "YI_100"}
    assert [split["release"] for split in manifest["view_fingerprints"]] == [FIRST]
    assert exported.warnings == []
    assert len(exported.notes) == 1


def test_rows_without_a_release_of_their_own_have_that_of_their_record(con: Connection) -> None:
    of_records = f"record_id in (select record_id from main.records where release = '{FIRST}' and subset = 'CIC_115')"
    ((count,),) = con.execute(f"select count(*) from main.annotations where {of_records}").fetchall()
    assert len(selected(con, Filters(release=FIRST, subsets=("CIC_115",)), "annotations")) == count > 0


@pytest.mark.parametrize(
    ("name", "filters", "words"),
    [
        (TASK, Filters(release="nix"), ["no rows of the release 'nix'", f"one of: {FIRST}, {REVISED}, dev_zips"]),
        (TASK, Filters(split="eval", release="dev_zips"), ["the release 'dev_zips'", f"one of: {FIRST}, {REVISED}\n"]),
        (TASK, Filters(subsets=("DCM", "CIC_11")), ["no rows of the subset 'CIC_11'", "one of: CIC_115"]),
        (f"{GROUPS}.outcome", Filters(release="x"), ["rows that name their release; it has none", "leave --release"]),
        ("bi.turns", Filters(release=FIRST), ["bi.turns has no column 'release'", "such as: bi.annotations"]),
        ("corpora", Filters(subsets=("x",)), ["main.corpora has no column 'subset'", "main.records"]),
        (TASK, Filters(where="label = 'Q'"), [f"no row of {TASK} is left", "label = 'Q'"]),
        (TASK, Filters(where="lable = 'O'"), ["one of its columns: label"]),
        (TASK, Filters(where="label = O"), ["one of its columns: background, context", "single quotes"]),
        (TASK, Filters(where="5"), ["neither true nor false", "of the type INTEGER"]),
        (TASK, Filters(where="count(*) > 1"), ["WHERE clause cannot contain aggregates"]),
        (TASK, Filters(where=" "), ["--where is not an expression", "found:    nothing"]),
        (TASK, Filters(where="label = 'O"), ["--where is not an expression: unterminated"]),
        (TASK, Filters(where="dialogue_id in (from main.turn)"), ["which is no table or view", "one of: main.turns"]),
        (TASK, Filters(where="lowr(label) = 'o'"), ["the function 'lowr'", "lower"]),
        (TASK, Filters(where="x" * 100_001), ["too long", "100,001"]),
    ],
)
def test_what_is_not_there_is_named(con: Connection, name: str, filters: Filters, words: Sequence[str]) -> None:
    with pytest.raises(UsageError) as raised:
        select(Warehouse(con), name, filters)
    assert [word for word in words if word not in str(raised.value)] == []


def test_an_expression_without_a_value_for_some_row_stops_the_export(con: Connection, tmp_path: Path) -> None:
    with pytest.raises(QueryFailed, match=r"--where can't be computed[\s\S]*Could not convert string '[OTX]'"):
        export(Warehouse(con), TASK, tmp_path / "a.csv", filters=Filters(where="label::integer = 1"))
    assert list(tmp_path.iterdir()) == []


def texts_in(con: Connection, filters: Filters, name: str = TASK) -> list[str]:
    selection = select(Warehouse(con), name, filters)
    return warnings(Warehouse(con), selection, composition(Warehouse(con), selection))


def test_turns_of_several_releases_are_counted(con: Connection) -> None:
    turns: dict[tuple[str, int], list[tuple[str, str]]] = {}
    for *turn, release, label in rows(con, "split = 'dev'", "dialogue_id, turn_index, release, label"):
        turns.setdefault((turn[0], turn[1]), []).append((release, label))
    repeated = [published for published in turns.values() if len({release for release, _ in published}) > 1]
    differing = [published for published in repeated if len({label for _, label in published}) > 1]
    assert differing
    assert texts_in(con, Filters("dev")) == [
        f"{len(repeated)} turns of {TASK} are exported more than once ({sum(map(len, repeated))} rows), in the "
        f"releases {FIRST}, {REVISED}, dev_zips, with different labels for {len(differing)} of them: "
        "choose one with --release"
    ]
    assert texts_in(con, NO_FILTERS, f"{TASK}_dev") == []
    assert texts_in(con, Filters("dev", FIRST)) == []


@pytest.mark.slow
def test_several_examples_of_one_turn_in_one_publication_are_no_surprise(con: Connection) -> None:
    for view in Warehouse(con).catalogue.views:
        if view.schema in (PICTURES, POSTS, GROUPS, SUGGESTIONS):
            assert texts_in(con, NO_FILTERS, view.full_name) == [], view.full_name


@pytest.mark.slow
def test_splits_and_subsets_repeat_turns_too(writable: Connection) -> None:
    make = "create or replace table main.{} as select 0 as example_index, 'a:b' as dialogue_id, "
    writable.execute(
        make.format("leaked") + "turn as turn_index, split from range(3) t(turn), (values ('x'), ('y')) s(split)"
    )
    writable.execute(make.format("once") + "'one' as release, name as subset from (values ('p'), ('q')) s(name)")
    assert texts_in(writable, NO_FILTERS, "leaked") == [
        "3 turns of main.leaked are exported more than once (6 rows), in the splits x, y: choose one with --split"
    ]
    assert texts_in(writable, NO_FILTERS, "once") == [
        "1 dialogue of main.once is exported more than once (2 rows), in the subsets p, q: choose one with --subset"
    ]


@pytest.mark.slow
def test_a_composition_is_bounded(writable: Connection) -> None:
    writable.execute(
        "create or replace table main.folders as select 'r' as release, 's' as split, 'f' || i as subset, "
        "'a/b' as record_id from range(101) t(i)"
    )
    selection = select(Warehouse(writable), "folders")
    assert composition(Warehouse(writable), selection) == [{"release": "r", "split": "s", "rows": 101}]
    of_100 = composition(Warehouse(writable), select(Warehouse(writable), "folders", limit=100))
    assert len(of_100) == 100
    assert notes(of_100)[0].endswith(", f15 1, 92 more") or "92 more" in notes(of_100)[0]


@pytest.mark.slow
def test_the_command_says_what_an_export_holds(sample: Path, tmp_path: Path) -> None:
    arguments = ["export", TASK, "--db", str(sample), "--output", "a.csv", "--split", "eval"]
    shown = run(*arguments, cwd=tmp_path)
    assert "rows by language: ja 16, en 14" in shown.stdout
    assert f"warning: 4 turns of {TASK} are exported more than once (8 rows)" in shown.stderr
    exported = run(*arguments, "--force", "--release", FIRST, "--subset", "DCM", "--where", "label = 'O'", cwd=tmp_path)
    assert (exported.returncode, exported.stderr) == (0, "")
    refused = run(*arguments, "--force", "--where", "1=1) or (true", cwd=tmp_path)
    assert refused.returncode == 2
    assert "--where is not an expression" in refused.stderr


@pytest.mark.slow
def test_the_real_files_have_a_folder_in_three_releases(real_warehouse: Path) -> None:
    with talkhouse.open(real_warehouse) as con:
        assert texts_in(con, Filters("dev")) == [
            f"2,150 turns of {TASK} are exported more than once (6,450 rows), in the releases {FIRST}, "
            f"{REVISED}, dev_zips, with different labels for 1,234 of them: choose one with --release"
        ]
        folder = "subset in ('CIC_115', 'CIC_json_data')"
        ((cic,),) = (texts_in(con, Filters("dev", where=folder)),)
        assert cic.startswith(f"1,150 turns of {TASK} are exported more than once (3,450 rows)")
        evaluated = composition(Warehouse(con), select(Warehouse(con), TASK, Filters("eval")))
        assert "rows by language: ja 1,100, en 500" in notes(evaluated)
