"""Clauses: each change of the sample in ``clauses.py`` gives the one finding that it announces."""

from talkhouse.ingest.registry import rules_of
from talkhouse.testing.failure import require
from talkhouse.testing.findings import read_folder, stored_findings
from talkhouse.testing.subject import Subject


def a_clause_is_told_at_its_place(subject: Subject, name: str) -> None:
    """A change of the sample gives the finding that its clause announces, and without the change there is none."""
    clause = subject.clauses[name]
    data = subject.laid_out(subject.sample_files, clause.change)
    if clause.is_check:
        before = subject.built_findings
        told = stored_findings(subject.corpus, subject.built(data))
    else:
        before = subject.read_findings
        told = read_folder(subject.corpus, data / subject.corpus.id).told
    new = [finding for finding in (told - before).elements() if finding.rule == clause.rule]
    severity = clause.severity or rules_of(subject.corpus)[clause.rule].severity
    announced = [(finding.severity, finding.place) for finding in new if clause.words in finding.detail]
    require(
        announced == [(severity, clause.place)],
        f"the clause {name} is not told as announced",
        expected=f"{severity} at {clause.place}: ... {clause.words} ...",
        found="; ".join(f"{one.severity} at {one.place}: {one.detail}" for one in new) or "nothing new",
    )
