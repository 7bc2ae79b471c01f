"""Invented corpora of every format, and inputs with one defect each; a larger kit may lie beside TALKHOUSE_DATA."""

import os
from pathlib import Path

import pytest

from tests.declared.kit import Case, cases_in, check_broken, check_case

OWN = Path(__file__).parent / "kit"
OTHER = Path(os.environ.get("TALKHOUSE_DATA") or "no data").parent / "expected" / "own"


def _named(cases: list[Case]) -> list[object]:
    return [pytest.param(case, id=case.folder.name) for case in cases]


@pytest.mark.slow
@pytest.mark.parametrize("case", _named(cases_in(OWN)))
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
