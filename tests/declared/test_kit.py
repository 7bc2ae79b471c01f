"""Invented corpora of every format, and inputs with one defect each; a larger kit may be next to TALKHOUSE_DATA."""

import json
import os
import re
import shutil
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from talkhouse.guess.new_declaration import new_declaration
from talkhouse.ingest.progress import Silent
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import build
from talkhouse.schema import warehouse
from talkhouse.schema.errors import TalkhouseError
from tests.conftest import made_once
from tests.data_files import data_of
from tests.declared.invented_corpora import verdicts_of

Json = dict[str, Any]

_COUNTED = {
    **dict.fromkeys(("records", "dialogues", "speakers"), "corpus_id = $corpus"),
    **dict.fromkeys(("turns", "participants", "parts"), "starts_with(dialogue_id, $corpus || ':')"),
    **dict.fromkeys(("annotations", "candidates"), "starts_with(record_id, $corpus || '/')"),
}
_LISTED = data_of(__file__)["listed"]
_OWN = frozenset({"shape", "fields"})
"""Members of ``extra`` that say how an object is written."""


@dataclass(frozen=True)
class Case:
    """One case of the kit."""

    folder: Path

    @property
    def expected(self) -> Json:
        """What must come of it."""
        expected: Json = json.loads((self.folder / "expected.json").read_text(encoding="utf-8"))
        return expected

    @property
    def corpus_id(self) -> str:
        """The only corpus of the case."""
        return str(self.expected["corpus_id"])


def cases_in(folder: Path) -> list[Case]:
    """List the cases of a kit, those of broken input apart."""
    return [Case(path.parent) for path in sorted(folder.glob("*/expected.json"))]


def build_cases(cases: Iterable[Case], folder: Path) -> Path:
    """Build cases together, each a corpus of its own; return the warehouse."""
    for case in cases:
        shutil.copytree(case.folder / "data" / case.corpus_id, folder / "data" / case.corpus_id)
    build(folder / "kit.duckdb", Silent(), data=folder / "data", limit=QuarantineLimit("100%"))
    return folder / "kit.duckdb"


def check_case(case: Case, path: Path) -> None:
    """Compare what a warehouse has of a case with all that its ``expected.json`` names."""
    expected = case.expected
    with warehouse.connect(path) as con:
        differences = list(_differences(con, expected))
    assert not differences, "\n".join(differences)
    _check_restored(path, case.corpus_id, expected)


def check_refused(case: Case, folder: Path) -> None:
    with pytest.raises(TalkhouseError) as caught:
        build_cases([case], folder)
    message = str(caught.value)
    assert all(word in message for word in (case.expected["place"], *case.expected["says"])), message
    assert not (folder / "kit.duckdb").exists()


def check_broken(case: Case, path: Path) -> None:
    """Look at a case with one defect: what is said, where, and how many records are loaded all the same."""
    expected = case.expected
    with warehouse.connect(path) as con:
        findings = _findings(con, case.corpus_id)
        hit = [detail for rule, place, detail in findings if (rule, place) == (expected["rule"], expected["place"])]
        assert hit, findings
        assert all(word in hit[0] for word in expected["says"]), hit
        assert not [finding for finding in findings if finding[0] != expected["rule"]], findings
        counts = con.execute(
            "select sum(records_loaded), sum(records_quarantined) from meta.source_files where corpus_id = ?",
            [case.corpus_id],
        ).fetchone()
    assert counts == (expected["records_loaded"], expected["records_quarantined"])
    _check_restored(path, case.corpus_id, {})


def _differences(con: duckdb.DuckDBPyConnection, expected: Json) -> Iterator[str]:
    corpus_id = expected["corpus_id"]
    for table, number in expected.get("counts", {}).items():
        if table == "quarantined":
            query = "select count(*) from meta.quarantine where corpus_id = $corpus"
        else:
            query = f"select count(*) from main.{table} where {_COUNTED[table]}"
        ((count,),) = con.execute(query, {"corpus": corpus_id}).fetchall()
        if count != number:
            yield f"{table}: {count} rows in place of {number}"
    for table, (relation, key) in _LISTED.items():
        rows = expected.get(table)
        if rows is not None:
            yield from _listed(con, table, relation, key, rows, table not in expected.get("partial", []), corpus_id)
    yield from _dialogues(con, corpus_id, expected.get("dialogues"))
    for name, key in (("turn_columns", ("dialogue_id", "turn_index")), ("speakers", ("speaker_id",))):
        relation = "main.turns" if name == "turn_columns" else "main.speakers"
        yield from _listed(con, name, relation, key, expected.get(name, []), False, corpus_id)
    yield from _spans(con, corpus_id, expected.get("spans"))
    yield from _found(con, corpus_id, expected)
    for view, wanted in expected.get("views", {}).items():
        columns = ", ".join(wanted["columns"])
        rows = con.execute(
            f"select {columns} from {view} where {wanted['where']} order by split, example_index"
        ).fetchall()
        if (got := [[_plain(value) for value in row] for row in rows]) != wanted["rows"]:
            yield f"{view}: {got}\n  in place of {wanted['rows']}"


def _listed(
    con: duckdb.DuckDBPyConnection,
    name: str,
    relation: str,
    key: tuple[str, ...],
    rows: list[Json],
    is_whole: bool,
    corpus_id: str,
) -> Iterator[str]:
    owner = key[0]
    left = rows and [
        dict(zip(names, row, strict=True))
        for cursor in [con.execute(f"select * from {relation} as r where starts_with(r.{owner}, ?)", [corpus_id])]
        for names in [[column[0] for column in cursor.description or ()]]
        for row in cursor.fetchall()
    ]
    total = len(left)
    for row in rows:
        near = [other for other in left if _fits(other, {name: row[name] for name in key if name in row})]
        if not any(_fits(other, row) for other in near):
            yield f"{name}: no row {row}; near: {[{name: other[name] for name in row} for other in near][:3]}"
    if is_whole and total != len(rows):
        yield f"{name}: {total} rows in place of {len(rows)}"


def _fits(row: Json, wanted: Json) -> bool:
    return all(_same(name, row[name], value) for name, value in wanted.items())


def _same(name: str, value: Any, wanted: Any) -> bool:
    if name == "extra":
        members = {} if value is None else {key: item for key, item in json.loads(value).items() if key not in _OWN}
        return bool((members or None) == wanted)
    if name == "arguments" and value is not None:
        return bool(json.loads(value) == wanted)
    if isinstance(wanted, str) and wanted.endswith("~?"):
        return re.fullmatch(re.escape(wanted[:-1]) + r"[0-9a-f]{8}", str(value)) is not None
    return bool(_plain(value) == wanted)


def _plain(value: Any) -> Any:
    return str(value) if type(value).__name__ in {"datetime", "date"} else value


def _dialogues(con: duckdb.DuckDBPyConnection, corpus_id: str, wanted: Json | None) -> Iterator[str]:
    if wanted is None:
        return
    cursor = con.execute("select * from main.dialogues where corpus_id = ?", [corpus_id])
    names = [column[0] for column in cursor.description or ()]
    rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    if len(rows) != len(wanted):
        yield f"dialogues: {[row['dialogue_id'] for row in rows]}"
    for key, about in wanted.items():
        near = [row for row in rows if _same("dialogue_id", row["dialogue_id"], key)]
        if not near:
            yield f"dialogues: no {key}; there are {[row['dialogue_id'] for row in rows]}"
            continue
        turns = con.execute(
            "select role, text from main.turns where dialogue_id = ? order by turn_index", [near[0]["dialogue_id"]]
        ).fetchall()
        if [list(turn) for turn in turns] != about["turns"]:
            yield f"{key}: {turns} in place of {about['turns']}"
        columns = {name: value for name, value in about.items() if name != "turns"}
        if not _fits(near[0], columns):
            yield f"{key}: { ({name: near[0][name] for name in columns}) } in place of {columns}"


def _spans(con: duckdb.DuckDBPyConnection, corpus_id: str, wanted: list[list[str]] | None) -> Iterator[str]:
    if wanted is None:
        return
    rows = con.execute(
        "select a.label, a.start_index, a.end_index, t.text from main.annotations as a join main.turns as t "
        "using (dialogue_id, turn_index) where starts_with(a.record_id, ?) and a.start_index is not null "
        "order by a.record_id, a.turn_index, a.scheme, a.annotator_index, a.item_index",
        [corpus_id + "/"],
    ).fetchall()
    spans = [[label, text[start:end]] for label, start, end, text in rows]
    if spans != wanted:
        yield f"spans: {spans} in place of {wanted}"


def _findings(con: duckdb.DuckDBPyConnection, corpus_id: str) -> list[tuple[str, str, str]]:
    return con.execute(
        "select rule, concat(source_file_id, '#' || pointer), detail from meta.findings "
        "where corpus_id = ? and regexp_matches(rule, '^(TH|GF)-') order by finding_index",
        [corpus_id],
    ).fetchall()


def _found(con: duckdb.DuckDBPyConnection, corpus_id: str, expected: Json) -> Iterator[str]:
    left = _findings(con, corpus_id)
    for wanted in expected.get("findings", ()):
        fitting = [
            finding
            for finding in left
            if finding[:2] == (wanted["rule"], wanted["place"]) and all(word in finding[2] for word in wanted["says"])
        ]
        if not fitting:
            yield f"findings: no {wanted}; left: {left}"
        else:
            left.remove(fitting[0])
    yield from (f"findings: more than expected: {finding}" for finding in left if "findings" in expected)
    for check in expected.get("warnings_of_checks", ()):
        rows = con.execute(
            "select 1 from meta.findings where (rule, severity, corpus_id) = (?, 'warn', ?)", [check, corpus_id]
        ).fetchall()
        if not rows:
            yield f"the check {check} does not warn"


def _check_restored(path: Path, corpus_id: str, expected: Json) -> None:
    with warehouse.connect(path) as con:
        verdicts = verdicts_of(con, corpus_id)
    for verdict in verdicts:
        assert verdict.status in ("equal", "not data"), verdict
    by = {verdict.file.partition("/")[2]: verdict.by for verdict in verdicts}
    for file, how in expected.get("restored", {}).items():
        assert by.get(file) in ({how, "bytes"} if how == "values" else {how}), (file, by)
    for file in expected.get("not_data", ()):
        assert by.get(file, "") is None, (file, by)


OWN = Path(__file__).parent / "kit"
OTHER = Path(os.environ.get("TALKHOUSE_DATA") or "no data").parent / "expected" / "own"


def of_kits(part: str) -> list[Case]:
    """List a part of the kit, and of the other one where it is there."""
    return [case for kit in (OWN, OTHER) for case in cases_in(kit / part)]


def _named(cases: list[Case]) -> list[object]:
    return [pytest.param(case, id=f"{case.folder.relative_to(case.folder.parents[2])}") for case in cases]


QUICK = "chat"
"""The case that shows the most: every change is tried by it."""
UNGUESSED = frozenset({"pairs_in_lists", "pairs_same_ids", "turns"})
"""Cases whose columns have names that say nothing, or of which half a record is missing."""
GUESSED = [case for case in cases_in(OWN) if case.folder.name not in UNGUESSED]


@pytest.fixture(scope="session")
def built(shared_folder: Path) -> Callable[[Path], Path]:
    """A way to have the warehouse of all cases of a kit that can be built, made once."""

    def take(kit: Path) -> Path:
        cases = (case for case in (*cases_in(kit), *cases_in(kit / "broken")) if not case.expected.get("exit"))
        path = shared_folder / f"kit_{kit.parent.name}" / "kit.duckdb"
        return made_once(path, lambda path: build_cases(cases, path.parent))

    return take


@pytest.fixture(scope="session")
def proposed(shared_folder: Path) -> Path:
    """A folder with the guessed cases as what is proposed for them declares them, and their warehouse, made once."""

    def make(path: Path) -> None:
        for case in GUESSED:
            mine = path.parent / "cases" / case.folder.name
            shutil.copytree(case.folder, mine)
            (mine / "data" / case.corpus_id / "corpus.toml").unlink()
            new_declaration(mine / "data" / case.corpus_id)
        build_cases([Case(path.parent / "cases" / case.folder.name) for case in GUESSED], path.parent)

    return made_once(shared_folder / "kit_proposed" / "kit.duckdb", make).parent


def test_chat(tmp_path: Path) -> None:
    chat = Case(OWN / QUICK)
    check_case(chat, build_cases([chat], tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("case", _named(GUESSED))
def test_what_is_proposed_for_a_case_says_the_same_and_builds(case: Case, proposed: Path) -> None:
    page = Path("data", case.corpus_id, "corpus.toml")
    declared, guessed = (tomllib.loads((of / page).read_text(encoding="utf-8")) for of in (case.folder, proposed))
    assert guessed["format"] == declared["format"]
    for table in ("pair", "preference"):
        if table in declared:
            assert guessed[table] == declared[table]
    for key in ("turns", "text", "system"):
        if key in declared.get("dialogue", {}):
            assert guessed["dialogue"][key] == declared["dialogue"][key]
    for key in ("text", "role", "speaker", "replies", "reply_to"):
        if key in declared.get("turn", {}):
            assert guessed["turn"][key] == declared["turn"][key]
    with warehouse.connect(proposed / "kit.duckdb") as con:
        assert con.execute("select 1 from main.corpora where corpus_id = ?", [case.corpus_id]).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("case", _named([case for case in of_kits("") if case.folder != OWN / QUICK]))
def test_a_case(case: Case, built: Callable[[Path], Path]) -> None:
    check_case(case, built(case.folder.parent))


@pytest.mark.slow
@pytest.mark.parametrize("case", _named(of_kits("broken")))
def test_a_defect(case: Case, built: Callable[[Path], Path], tmp_path: Path) -> None:
    if case.expected["exit"]:
        check_refused(case, tmp_path)
    else:
        check_broken(case, built(case.folder.parents[1]))
