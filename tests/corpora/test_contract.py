"""Every corpus keeps to the contract, whatever it is; and so do the views that all of them share."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

from talkhouse.ingest.common_rules import format_rules, shared_rules
from talkhouse.ingest.registry import corpora, rules_of
from talkhouse.queries.catalogue import BI, catalogue
from talkhouse.queries.heads import ViewQuery
from talkhouse.testing import broken, declaration, sample
from talkhouse.testing.broken import a_clause_is_told_at_its_place, a_common_rule_is_told_and_kept
from talkhouse.testing.contract import CHECKS, Run
from talkhouse.testing.sample import a_golden_case_gives_its_rows
from talkhouse.testing.subject import CannotCheck, Subject, subject_of

HERE = Path(__file__).parent
CORPORA = corpora()
FEWEST = min(CORPORA.values(), key=lambda corpus: len(corpus.common_rules)).id
"""The corpus whose files can break the fewest of the common rules."""
GOLDEN = a_golden_case_gives_its_rows
SLOW = (declaration.views_bind_in_the_oldest_duckdb, sample.two_builds_give_equal_rows)


@cache
def listed(corpus_id: str) -> Subject:
    """Return a corpus with its cases, of which nothing is built."""
    return subject_of(corpus_id, HERE / corpus_id, Path())


def quick(subject: Subject, function: Callable[..., None]) -> set[str | None]:
    """Name the cases of a check that the quick lane tries, since each takes a build.

    Of broken files that is a record that is refused, of clauses one of each rule, if possible one without a build, of
    golden cases the worked example, which has every kind of example.
    """
    corpus, rules = subject.corpus, rules_of(subject.corpus)
    if function is broken.a_broken_file_is_told_and_kept:
        names = subject.case_names("broken")
        return {next(iter([name for name in names if rules[name].severity == "reject_dialogue"] or names))}
    if function is GOLDEN:
        names = subject.case_names("golden")
        return {"worked_example"} if "worked_example" in names else {*names}
    if function is a_common_rule_is_told_and_kept:
        return {*corpus.common_rules} if corpus.id == FEWEST else set()
    if function is a_clause_is_told_at_its_place:
        ordered = sorted(subject.clauses.items(), key=lambda named: named[1].is_check, reverse=True)
        return {*{clause.rule: name for name, clause in ordered}.values()}  # the last of each rule stays
    return set() if function in SLOW else {None}


def is_left_to_long(corpus_id: str, run: Run) -> bool:
    """Whether the slow lane tries another common rule of a corpus: it tries one of each, and each of some corpus."""
    if run.check.function is not a_common_rule_is_told_and_kept:
        return False
    rules = sorted(CORPORA[corpus_id].common_rules)
    return run.case != rules[3 * [*CORPORA].index(corpus_id) % len(rules)]


def runs(*, of_golden: bool) -> list[Any]:
    listed_runs = []
    for corpus_id in CORPORA:
        subject = listed(corpus_id)
        for check in (check for check in CHECKS if (check.function is GOLDEN) == of_golden):
            chosen = quick(subject, check.function)
            for run in check.runs(subject):
                other = pytest.mark.long if is_left_to_long(corpus_id, run) else pytest.mark.slow
                marks = () if run.case in chosen else other
                name = run.case if of_golden else run
                listed_runs.append(pytest.param(corpus_id, run, id=f"{corpus_id}-{name}", marks=marks))
    return listed_runs


@pytest.fixture(scope="session")
def subjects() -> dict[str, Subject]:
    return {}


@pytest.fixture
def subject_named(
    subjects: dict[str, Subject], con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> Iterator[Callable[[str], Subject]]:
    """A way to have a corpus, whose sample is in a warehouse with those of all others."""

    def take(corpus_id: str) -> Subject:
        subject = subjects.setdefault(corpus_id, subject_of(corpus_id, HERE / corpus_id, tmp_path))
        subject.scratch, subject.sample = tmp_path, con
        return subject

    yield take
    for subject in subjects.values():
        subject.close()


@pytest.mark.parametrize(("corpus_id", "run"), runs(of_golden=False))
def test_it_keeps_to_the_contract(corpus_id: str, run: Run, subject_named: Callable[[str], Subject]) -> None:
    try:
        run.run(subject_named(corpus_id))
    except CannotCheck as reason:
        if run.check.function is not declaration.views_bind_in_the_oldest_duckdb:
            raise
        pytest.skip(str(reason))


@pytest.mark.parametrize(("corpus_id", "run"), runs(of_golden=True))
def test_golden(corpus_id: str, run: Run, subject_named: Callable[[str], Subject], regen: bool) -> None:
    """Every table and view of a small invented corpus, row by row; ``--regen`` writes them again."""
    subject = subject_named(corpus_id)
    subject.regen = regen
    run.run(subject)


class Shared(Subject):
    """The views that no corpus brings."""

    @property
    def views(self) -> tuple[ViewQuery, ...]:
        """All of them."""
        own = {view.full_name for corpus_id in CORPORA for view in catalogue().views if f"{corpus_id}_" in view.name}
        return tuple(view for view in catalogue().views if view.schema == BI and view.full_name not in own)


@pytest.mark.parametrize(
    "check", [declaration.the_grain_is_unique, declaration.views_work_under_attach, declaration.views_say_what_they_are]
)
def test_so_do_the_views_of_all(
    check: Callable[[Subject], None], con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    subject = Shared(next(iter(CORPORA.values())), None, tmp_path)
    subject.sample = con
    check(subject)


def test_every_common_rule_is_one_that_a_corpus_can_break() -> None:
    of_the_build = {"TH-06", "TH-07", "TH-08", "TH-09", "TH-10"}
    of_corpora = {rule for corpus in CORPORA.values() for rule in corpus.common_rules}
    assert of_corpora | of_the_build | {rule.id for rule in format_rules()} == {rule.id for rule in shared_rules()}
