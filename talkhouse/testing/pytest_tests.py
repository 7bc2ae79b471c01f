"""The checks as functions and fixtures that pytest finds in a module."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from talkhouse.testing.contract import CHECKS, Check
from talkhouse.testing.failure import CannotCheck
from talkhouse.testing.plugin import REGEN
from talkhouse.testing.subject import Subject, subject_of

_FIXTURE = "talkhouse_subject"


def functions_of(corpus_id: str, cases: Path | None, folders: Iterable[Path]) -> dict[str, Any]:
    """Return the tests of a corpus by their names, and the fixture that they need."""
    listed = subject_of(corpus_id, cases, Path(), folders)

    @pytest.fixture(scope="module", name=_FIXTURE)
    def subject(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
        """The corpus, with its warehouses."""
        made = subject_of(corpus_id, cases, tmp_path_factory.mktemp(corpus_id), folders)
        made.regen = bool(request.config.getoption(REGEN, default=False))
        yield made
        made.close()

    tests = {f"test_{check.name}": _test(check, listed) for check in CHECKS}
    return {_FIXTURE: subject, **{name: test for name, test in tests.items() if test}}


def _test(check: Check, listed: Subject) -> Callable[..., None] | None:
    """Make the test of a check; None where there is no case for it."""
    runs = list(check.runs(listed))

    def test(talkhouse_subject: Subject, run: Any) -> None:
        try:
            run.run(talkhouse_subject)
        except CannotCheck as reason:
            pytest.skip(str(reason))

    test.__doc__ = check.function.__doc__
    names = [run.case or listed.corpus.id for run in runs]
    return pytest.mark.parametrize("run", runs, ids=names)(test) if runs else None
