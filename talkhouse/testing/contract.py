"""Every check of the contract, in the order in which they are run, and how one of them comes out."""

import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from talkhouse.schema.errors import TalkhouseError
from talkhouse.testing import broken, declaration, sample
from talkhouse.testing.broken import a_clause_is_told_at_its_place, a_common_rule_is_told_and_kept, rules_to_break
from talkhouse.testing.declaration import the_reader_imports_no_database, the_reader_opens_no_socket
from talkhouse.testing.sample import a_golden_case_gives_its_rows, references_are_kept, rows_are_told_apart
from talkhouse.testing.subject import CannotCheck, Subject, subject_of


@dataclass(frozen=True)
class ContractCheck:
    """One thing that holds for every corpus, or for each of its cases."""

    function: Callable[..., None]
    cases: Callable[[Subject], Iterable[str]] | None = None

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.__name__

    def runs(self, subject: Subject) -> Iterator["Run"]:
        """List its runs: one, or one for each case."""
        for case in [None] if self.cases is None else self.cases(subject):
            yield Run(self, case)


@dataclass(frozen=True)
class Run:
    """A check of a corpus, or of one case."""

    check: ContractCheck
    case: str | None

    def __str__(self) -> str:
        return self.check.name if self.case is None else f"{self.check.name}[{self.case}]"

    def run(self, subject: Subject) -> None:
        """Raise ContractFailure if the contract is broken, CannotCheck if that can't be determined here."""
        self.check.function(subject, *([] if self.case is None else [self.case]))


CHECKS = (
    ContractCheck(declaration.it_is_declared_with_its_licence),
    *map(ContractCheck, (declaration.its_terms_are_of_columns_that_there_are, declaration.its_readme_has_the_headings)),
    *map(ContractCheck, (declaration.every_rule_has_its_broken_file, declaration.every_rule_has_its_clauses)),
    *map(ContractCheck, (the_reader_opens_no_socket, the_reader_imports_no_database)),
    *map(ContractCheck, (sample.the_sample_loads_whole, sample.its_files_come_back_equal)),
    *map(
        ContractCheck,
        (sample.it_shows_every_scheme_and_split, sample.turns_have_no_gaps, sample.keys_begin_with_the_id),
    ),
    *map(ContractCheck, (sample.every_task_has_rows_in_every_split, sample.two_builds_give_equal_rows)),
    *map(ContractCheck, (rows_are_told_apart, references_are_kept)),
    *map(
        ContractCheck,
        (declaration.the_grain_is_unique, declaration.views_work_under_attach, declaration.views_say_what_they_are),
    ),
    *map(ContractCheck, (declaration.tasks_have_the_columns_of_all, declaration.views_bind_in_the_oldest_duckdb)),
    ContractCheck(declaration.views_translate_to_spark),
    ContractCheck(a_golden_case_gives_its_rows, lambda subject: subject.case_names("golden")),
    ContractCheck(broken.a_broken_file_is_told_and_kept, lambda subject: subject.case_names("broken")),
    ContractCheck(a_common_rule_is_told_and_kept, rules_to_break),
    ContractCheck(a_clause_is_told_at_its_place, lambda subject: subject.clauses),
)
"""All of them."""


class ContractOutcome(StrEnum):
    """How a check came out."""

    HOLDS = "holds"
    FAILS = "fails"
    CANNOT_TELL = "can't tell"


@dataclass(frozen=True)
class CheckResult:
    """How one run came out."""

    name: str
    about: str
    """What holds, in a sentence."""
    outcome: ContractOutcome
    detail: str
    seconds: float


def results(subject: Subject) -> Iterator[CheckResult]:
    """Run all checks on a corpus, one after the other."""
    for check in CHECKS:
        for run in check.runs(subject):
            begun = time.monotonic()
            outcome, detail = _outcome(run, subject)
            about = (check.function.__doc__ or "").partition("\n")[0]
            yield CheckResult(str(run), about, outcome, detail, time.monotonic() - begun)


def _outcome(run: Run, subject: Subject) -> tuple[ContractOutcome, str]:
    try:
        run.run(subject)
    except CannotCheck as reason:
        return ContractOutcome.CANNOT_TELL, str(reason)
    except TalkhouseError as failure:
        return ContractOutcome.FAILS, str(failure)
    except Exception as error:  # noqa: BLE001 - of the corpus's own code; the other checks go on
        return ContractOutcome.FAILS, "".join(traceback.format_exception_only(error)).strip()
    return ContractOutcome.HOLDS, ""


_FIXTURE = "talkhouse_subject"


def functions_of(corpus_id: str, cases: Path | None, folders: Iterable[Path]) -> dict[str, Any]:
    """Return the tests of a corpus by their names, and the fixture that they need."""
    import pytest

    from talkhouse.testing.plugin import REGEN

    listed = subject_of(corpus_id, cases, Path(), folders)

    @pytest.fixture(scope="module", name=_FIXTURE)
    def subject(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
        """The corpus, with its warehouses."""
        of_corpus = subject_of(corpus_id, cases, tmp_path_factory.mktemp(corpus_id), folders)
        of_corpus.regen = bool(request.config.getoption(REGEN, default=False))
        yield of_corpus
        of_corpus.close()

    tests = {f"test_{check.name}": _test(check, listed) for check in CHECKS}
    return {_FIXTURE: subject, **{name: test for name, test in tests.items() if test}}


def _test(check: ContractCheck, listed: Subject) -> Callable[..., None] | None:
    """Return the test of a check, or None if there is no case for it."""
    import pytest

    runs = list(check.runs(listed))

    def test(talkhouse_subject: Subject, run: Any) -> None:
        try:
            run.run(talkhouse_subject)
        except CannotCheck as reason:
            pytest.skip(str(reason))

    test.__doc__ = check.function.__doc__
    names = [run.case or listed.corpus.id for run in runs]
    return pytest.mark.parametrize("run", runs, ids=names)(test) if runs else None
