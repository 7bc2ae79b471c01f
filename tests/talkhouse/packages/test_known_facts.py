"""What a warehouse knows of corpora for datasheets, compared with counts of the tables themselves."""

from pathlib import Path

import pytest

from talkhouse.packages.content import CorpusFacts, known_facts
from talkhouse.warehouse.opened import opened
from tests.data_files import data_of

_ANNOTATORS = data_of(__file__)["annotators"]

_COUNTS = """
select corpus_id, count(distinct dialogue_id), count(*), count(said_at), min(said_at), max(said_at)
from main.turns inner join main.dialogues using (dialogue_id) group by corpus_id order by corpus_id
"""

_FINDINGS = """
select corpus_id, rule, severity, count(*) from meta.findings where corpus_id is not null group by all order by all
"""


def _facts(sample: Path, *queries: str) -> tuple[list[CorpusFacts], list[list[tuple[object, ...]]]]:
    with opened(sample) as warehouse:
        facts = known_facts(warehouse, reversed(warehouse.corpus_ids))
        return facts, [warehouse.con.execute(query).fetchall() for query in queries]


def test_annotators_and_counts_are_those_of_the_tables(sample: Path) -> None:
    facts, (annotators, counts) = _facts(sample, _ANNOTATORS, _COUNTS)
    schemes = [scheme for corpus in facts for scheme in corpus.schemes]
    known = {scheme.scheme: (scheme.fewest_annotators, scheme.most_annotators, scheme.units) for scheme in schemes}
    # Numbers are labels too here, but not for this query.
    assert {(scheme, *known[str(scheme)]) for scheme, *_ in annotators} == set(annotators)
    assert all(each.fewest_annotators <= each.median_annotators <= each.most_annotators for each in schemes)
    names = ("corpus_id", "dialogue_count", "turn_count", "timed_turn_count", "first_said_at", "last_said_at")
    assert [tuple(getattr(each, name) for name in names) for each in facts] == counts


@pytest.mark.slow
def test_agreement_is_of_schemes_that_several_annotate(sample: Path) -> None:
    facts, (agreement, findings) = _facts(
        sample,
        "select scheme, release, unit_count from bi.scheme_agreement"
        # Of several releases each is told, and not what their default publications are together.
        " qualify release is not null or count(release) over (partition by scheme) = 0",
        _FINDINGS,
    )
    known = [
        (scheme.scheme, each.release, each.units)
        for corpus in facts
        for scheme in corpus.schemes
        for each in scheme.agreement
    ]
    assert known
    assert sorted(known, key=str) == sorted(agreement, key=str)
    assert [(corpus.corpus_id, *finding) for corpus in facts for finding in corpus.findings] == findings
