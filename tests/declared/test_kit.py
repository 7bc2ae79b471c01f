"""Invented corpora of every format, and inputs with one defect each; a larger kit may lie beside TALKHOUSE_DATA."""

import os
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from talkhouse.guess.new_declaration import new_declaration
from talkhouse.schema import warehouse
from tests.declared.kit import Case, build_cases, cases_in, check_broken, check_case, check_refused

OWN = Path(__file__).parent / "kit"
OTHER = Path(os.environ.get("TALKHOUSE_DATA") or "no data").parent / "expected" / "own"


def _named(cases: list[Case]) -> list[object]:
    return [pytest.param(case, id=case.folder.name) for case in cases]


QUICK = "chat"
"""The case that shows the most: every change is tried by it."""
UNGUESSED = frozenset({"pairs_in_lists", "pairs_same_ids", "turns"})
"""Cases whose columns have names that say nothing, or of which half a record is missing."""
GUESSED = [case for case in cases_in(OWN) if case.folder.name not in UNGUESSED]


@pytest.fixture(scope="session")
def built(shared_folder: Path) -> Callable[[Path], Path]:
    """A way to have the warehouse of all cases of a kit that can be built, made once."""

    def take(kit: Path) -> Path:
        folder = shared_folder / f"kit_{kit.parent.name}"
        with FileLock(f"{folder}.lock"):
            if not (folder / "kit.duckdb").exists():
                cases = [*cases_in(kit), *cases_in(kit / "broken")]
                build_cases((case for case in cases if not case.expected.get("exit")), folder)
        return folder / "kit.duckdb"

    return take


@pytest.fixture(scope="session")
def proposed(shared_folder: Path) -> Path:
    """A folder with the guessed cases as what is proposed for them declares them, and their warehouse, made once."""
    folder = shared_folder / "kit_proposed"
    with FileLock(f"{folder}.lock"):
        if not (folder / "kit.duckdb").exists():
            for case in GUESSED:
                mine = folder / "cases" / case.folder.name
                shutil.copytree(case.folder, mine)
                (mine / "data" / case.corpus_id / "corpus.toml").unlink()
                new_declaration(mine / "data" / case.corpus_id)
            build_cases([Case(folder / "cases" / case.folder.name) for case in GUESSED], folder)
    return folder


def test_chat(tmp_path: Path) -> None:
    chat = Case(OWN / QUICK)
    check_case(chat, build_cases([chat], tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("case", _named(GUESSED))
def test_what_is_proposed_for_a_case_says_the_same_and_builds(case: Case, proposed: Path) -> None:
    page = Path("data", case.corpus_id, "corpus.toml")
    declared, said = (tomllib.loads((of / page).read_text(encoding="utf-8")) for of in (case.folder, proposed))
    assert said["format"] == declared["format"]
    for table in ("pair", "preference"):
        if table in declared:
            assert said[table] == declared[table]
    for key in ("turns", "text", "system"):
        if key in declared.get("dialogue", {}):
            assert said["dialogue"][key] == declared["dialogue"][key]
    for key in ("text", "role", "speaker", "replies", "reply_to"):
        if key in declared.get("turn", {}):
            assert said["turn"][key] == declared["turn"][key]
    with warehouse.connect(proposed / "kit.duckdb") as con:
        assert con.execute("select 1 from main.corpora where corpus_id = ?", [case.corpus_id]).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("case", _named([case for case in cases_in(OWN) if case.folder.name != QUICK]))
def test_a_case(case: Case, built: Callable[[Path], Path]) -> None:
    check_case(case, built(OWN))


@pytest.mark.slow
@pytest.mark.parametrize("case", _named(cases_in(OWN / "broken")))
def test_a_defect(case: Case, built: Callable[[Path], Path], tmp_path: Path) -> None:
    if case.expected["exit"]:
        check_refused(case, tmp_path)
    else:
        check_broken(case, built(OWN))


@pytest.mark.slow
@pytest.mark.skipif(not OTHER.is_dir(), reason="no folder expected/own beside TALKHOUSE_DATA")
@pytest.mark.parametrize("case", _named(cases_in(OTHER)))
def test_another_case(case: Case, built: Callable[[Path], Path]) -> None:
    check_case(case, built(OTHER))


@pytest.mark.slow
@pytest.mark.skipif(not OTHER.is_dir(), reason="no folder expected/own beside TALKHOUSE_DATA")
@pytest.mark.parametrize("case", _named(cases_in(OTHER / "broken")))
def test_another_defect(case: Case, built: Callable[[Path], Path], tmp_path: Path) -> None:
    if case.expected["exit"]:
        check_refused(case, tmp_path)
    else:
        check_broken(case, built(OTHER))
