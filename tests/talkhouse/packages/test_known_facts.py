"""What a warehouse knows of corpora for datasheets, compared with counts of the tables themselves."""

from pathlib import Path

import pytest

from talkhouse.packages.known_facts import CorpusFacts, known_facts
from talkhouse.warehouse.opened import opened

_ANNOTATORS = """
select min(annotators), max(annotators), count(*) from (
    select count(distinct annotator_index) as annotators from main.annotations
    where scheme = 'dbdc3.breakdown' group by record_id, turn_index
)
"""


def _facts(sample: Path) -> dict[str, CorpusFacts]:
    with opened(sample) as warehouse:
        return {facts.corpus_id: facts for facts in known_facts(warehouse, warehouse.corpus_ids)}


def test_annotators_agreement_and_counts_are_those_of_the_tables(sample: Path) -> None:
    dbdc3 = _facts(sample)["dbdc3"]
    breakdown = next(scheme for scheme in dbdc3.schemes if scheme.scheme == "dbdc3.breakdown")
    with opened(sample) as warehouse:
        ((fewest, most, units),) = warehouse.con.execute(_ANNOTATORS).fetchall()
        count = warehouse.con.execute("select count(*) from main.dialogues where corpus_id = 'dbdc3'").fetchall()
    assert (breakdown.fewest_annotators, breakdown.most_annotators, breakdown.units) == (fewest, most, units)
    assert breakdown.median_annotators == 30
    assert {agreement.release for agreement in breakdown.agreement} == {"dbdc3", "dbdc3_revised", "dev_zips"}
    assert all(-1 <= (agreement.krippendorff_alpha or 0) <= 1 for agreement in breakdown.agreement)
    assert [(dbdc3.dialogue_count,)] == count
    assert dbdc3.languages == ("en", "ja")


@pytest.mark.slow
def test_times_and_findings_are_those_of_the_tables(sample: Path) -> None:
    facts = _facts(sample)
    with opened(sample) as warehouse:
        times = warehouse.con.execute(
            "select count(said_at), min(said_at), max(said_at) from main.turns where dialogue_id like 'mantis%'"
        ).fetchall()
        findings = warehouse.con.execute(
            "select rule, severity, count(*) from meta.findings where corpus_id = 'dbdc3' group by all order by all"
        ).fetchall()
    mantis = facts["mantis"]
    assert [(mantis.timed_turn_count, mantis.first_said_at, mantis.last_said_at)] == times
    assert [*facts["dbdc3"].findings] == findings
    assert facts["delidata"].first_said_at is None
