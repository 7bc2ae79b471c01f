"""Every clause of every rule: the sample is accepted, and a change of it gives the finding that the rule announces."""

import importlib
import shutil
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from talkhouse.ingest.common_rules import COMMON_RULES
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.registry import corpora, sample_of
from tests.corpora import contract
from talkhouse.testing.clauses import Clause, Told, built_findings, read_findings

CORPORA = list(corpora().values())


def clauses_of(corpus: Corpus) -> list[Clause]:
    """Return what ``tests/corpora/<corpus>/clauses.py`` lists."""
    clauses: list[Clause] = importlib.import_module(f"tests.corpora.{corpus.id}.clauses").CLAUSES
    return clauses


def cases() -> Iterator[Any]:
    """List the clauses of every corpus; one of each rule is quick, if possible one that takes no build."""
    for corpus in CORPORA:
        quick: dict[str, Clause] = {}
        for clause in sorted(clauses_of(corpus), key=lambda clause: clause.is_check):
            quick.setdefault(clause.rule, clause)
        for clause in clauses_of(corpus):
            name = f"{clause.rule}-{clause.place}-{clause.words}"[:100]
            marks = () if clause is quick[clause.rule] else pytest.mark.slow
            yield pytest.param(corpus, clause, id=name, marks=marks)


@cache
def whole(corpus_id: str) -> Counter[Told]:
    """Return what the reader finds in the sample."""
    corpus = corpora()[corpus_id]
    return read_findings(corpus, sample_of(corpus))


@pytest.fixture(scope="session")
def whole_built() -> dict[str, Counter[Told]]:
    """What is found in the samples that were built so far."""
    return {}


@pytest.mark.parametrize(("corpus", "clause"), cases())
def test_a_clause_is_told_at_its_place_and_only_where_it_is_broken(
    corpus: Corpus, clause: Clause, whole_built: dict[str, Counter[Told]], tmp_path: Path
) -> None:
    folder = tmp_path / "data" / corpus.id
    shutil.copytree(sample_of(corpus), folder)
    if clause.is_check:
        if corpus.id not in whole_built:
            whole_built[corpus.id] = built_findings(corpus, folder, tmp_path / "whole.duckdb")
        accepted = whole_built[corpus.id]
    else:
        accepted = whole(corpus.id)
    clause.change(folder)
    told = built_findings(corpus, folder, tmp_path / "w.duckdb") if clause.is_check else read_findings(corpus, folder)
    contract.the_clause_is_told(corpus, clause, told, accepted)


@pytest.mark.parametrize("corpus", CORPORA, ids=lambda corpus: corpus.id)
def test_every_rule_has_clauses(corpus: Corpus) -> None:
    contract.every_rule_has(corpus, [clause.rule for clause in clauses_of(corpus)])


def test_every_common_rule_is_one_that_a_corpus_can_break() -> None:
    of_the_build = {"TH-06"}
    of_corpora = {rule for corpus in CORPORA for rule in corpus.common_rules}
    assert of_corpora | of_the_build == {rule.id for rule in COMMON_RULES}
