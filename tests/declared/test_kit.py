"""Invented corpora of every format, and inputs with one defect each; a larger kit may lie beside TALKHOUSE_DATA."""

import os
import shutil
import tomllib
from pathlib import Path

import pytest

from talkhouse.build.progress import Silent
from talkhouse.build.quarantine_limit import QuarantineLimit
from talkhouse.build.run import build
from talkhouse.guess.new_declaration import new_declaration
from tests.declared.kit import Case, cases_in, check_broken, check_case

OWN = Path(__file__).parent / "kit"
OTHER = Path(os.environ.get("TALKHOUSE_DATA") or "no data").parent / "expected" / "own"


def _named(cases: list[Case]) -> list[object]:
    return [pytest.param(case, id=case.folder.name) for case in cases]


QUICK = "chat"
"""The case that shows the most: every change is tried by it."""
UNGUESSED = frozenset({"pairs_in_lists", "pairs_same_ids", "turns"})
"""Cases whose columns have names that say nothing, or of which half a record is missing."""


def test_chat(tmp_path: Path) -> None:
    check_case(Case(OWN / QUICK), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("case", _named([case for case in cases_in(OWN) if case.folder.name not in UNGUESSED]))
def test_what_is_proposed_for_a_case_says_the_same_and_builds(case: Case, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(case.folder / "data", data)
    page = data / case.corpus_id / "corpus.toml"
    declared = tomllib.loads(page.read_text(encoding="utf-8"))
    page.unlink()
    new_declaration(page.parent)
    proposed = tomllib.loads(page.read_text(encoding="utf-8"))
    assert proposed["format"] == declared["format"]
    for table in ("pair", "preference"):
        if table in declared:
            assert proposed[table] == declared[table]
    for key in ("turns", "text", "system"):
        if key in declared.get("dialogue", {}):
            assert proposed["dialogue"][key] == declared["dialogue"][key]
    for key in ("text", "role", "speaker", "replies", "reply_to"):
        if key in declared.get("turn", {}):
            assert proposed["turn"][key] == declared["turn"][key]
    warehouse = tmp_path / "kit.duckdb"
    build(warehouse, Silent(), data=data, limit=QuarantineLimit("100%"))
    assert warehouse.exists()


@pytest.mark.slow
@pytest.mark.parametrize("case", _named([case for case in cases_in(OWN) if case.folder.name != QUICK]))
def test_a_case(case: Case, tmp_path: Path) -> None:
    check_case(case, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("case", _named(cases_in(OWN / "broken")))
def test_a_defect(case: Case, tmp_path: Path) -> None:
    check_broken(case, tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not OTHER.is_dir(), reason="no folder expected/own beside TALKHOUSE_DATA")
@pytest.mark.parametrize("case", _named(cases_in(OTHER)))
def test_another_case(case: Case, tmp_path: Path) -> None:
    check_case(case, tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not OTHER.is_dir(), reason="no folder expected/own beside TALKHOUSE_DATA")
@pytest.mark.parametrize("case", _named(cases_in(OTHER / "broken")))
def test_another_defect(case: Case, tmp_path: Path) -> None:
    check_broken(case, tmp_path)
