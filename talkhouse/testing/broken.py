"""Broken files: cases, clauses and common rules; each gives its finding at its place, and the rest is loaded."""

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import duckdb

from talkhouse.ingest.files.skipped import skip_reason
from talkhouse.ingest.registry import rules_of
from talkhouse.testing.sample import files_are_equal
from talkhouse.testing.subject import (
    CannotCheck,
    ReadOnce,
    Subject,
    read_folder,
    require,
    require_none,
    stored_findings,
)

Damage: TypeAlias = Callable[[bytes], Iterator[bytes]]
"""Takes a file's bytes, yields the file with one thing wrong in it, in one way after the other; none where it can't."""

_MEMBER = re.compile(r'"(?:[^"\\]|\\.)*"\s*:\s*')
"""A key, its colon and the blanks."""
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"?')


def malformed(raw: bytes) -> Iterator[bytes]:
    """Cut JSON off, as a download that ends too early; leave out the colon behind a key."""
    for text, (*_, (start, _)) in _with_members(raw):
        yield raw[: len(raw) // 2]
        colon = text.index(":", _STRING.match(text, start).end())  # type: ignore[union-attr]
        yield (text[:colon] + " " + text[colon + 1 :]).encode()


def not_utf8(raw: bytes) -> Iterator[bytes]:
    """Insert a byte of Latin-1 into a text; write half of a surrogate pair in JSON."""
    is_json = False
    for text, members in _with_members(raw):
        is_json = True
        strings = [value for value in map(_value_of(text), members) if text[value[0]] == '"']
        for _, end in strings[-1:]:
            before, after = text[: end - 1].encode(), text[end - 1 :].encode()
            yield before + b"\xe9" + after
            yield before + rb"\ud800" + after
    if not is_json and raw:
        middle = len(raw) // 2
        while middle and raw[middle] & 0xC0 == 0x80:
            middle -= 1
        yield raw[:middle] + b"\xe9\xff" + raw[middle:]


def key_twice(raw: bytes) -> Iterator[bytes]:
    """Write a member of an object twice: the first one in the file, and the last."""
    for text, members in _with_members(raw):
        for start, _ in dict.fromkeys((members[0], members[-1])):
            end = _value_of(text)((start, _))[1]
            yield (text[:start] + text[start:end] + ", " + text[start:]).encode()


def no_number(raw: bytes) -> Iterator[bytes]:
    """Write NaN, or Infinity, in place of the first value that is no list and no object, and of the last."""
    for text, members in _with_members(raw):
        plain = [value for value in map(_value_of(text), members) if text[value[0]] not in "[{"]
        for start, end in dict.fromkeys((*plain[:1], *plain[-1:])):
            yield from ((text[:start] + word + text[end:]).encode() for word in ("NaN", "Infinity"))


DAMAGES: Mapping[str, Damage] = {"TH-01": malformed, "TH-02": not_utf8, "TH-03": key_twice, "TH-04": no_number}
"""By the rule that is broken."""


def _with_members(raw: bytes) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Yield the text of a JSON file, or of one of JSON lines, and where each member's key and value begin.

    Nothing for other files, and for JSON without an object that has a member.
    """
    try:
        text = raw.decode()
        for line in [text] if _is_json(text) else text.splitlines():
            json.loads(line)
    except ValueError:
        return
    members, position = [], 0
    while match := _STRING.search(text, position):
        member = _MEMBER.match(text, match.start())
        position = match.end()
        if member:
            members.append((member.start(), member.end()))
    if members:
        yield text, members


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _value_of(text: str) -> Callable[[tuple[int, int]], tuple[int, int]]:
    """Return a function that finds where the value of a member begins and ends."""
    decoder = json.JSONDecoder()
    return lambda member: (member[1], decoder.raw_decode(text, member[1])[1])


def a_broken_file_is_told_and_kept(subject: Subject, rule: str) -> None:
    """The rule is told at a place; what it refuses is in the quarantine whole, the rest is loaded; all comes back."""
    is_told_and_kept(subject, rule, subject.laid_out(subject.case("broken", rule) / "raw"))


def is_told_and_kept(subject: Subject, rule_id: str, data: Path) -> None:
    """Build a data folder that breaks a rule; try the findings, the quarantine and the restored files."""
    con = subject.built(data)
    severity = _is_told(subject, rule_id, con)
    _is_counted(con)
    _is_kept(rule_id, severity, data, con)
    files_are_equal(subject, con, data / subject.corpus.id)


def _is_told(subject: Subject, rule_id: str, con: duckdb.DuckDBPyConnection) -> str:
    """Return its severity; a corpus may take the last value of a key that stands twice, with a warning."""
    rule = rules_of(subject.corpus)[rule_id]
    query = (
        "select findings.severity, source_file_id, detail, remedy "
        "from meta.findings inner join meta.rules using (rule) where rule = ?"
    )
    rows = con.execute(query, [rule_id]).fetchall()
    severities = sorted({severity for severity, *_ in rows})
    severity = "warn" if rule_id == "TH-03" and severities == ["warn"] else rule.severity
    require(severity in severities, f"no finding of {rule_id}", expected=rule.severity, found=severities)
    bare = [row for row in rows if not all(row[1:])]
    require_none(bare, f"findings of {rule_id} that say too little", expected="a file, a detail and a remedy")
    return severity


def _is_counted(con: duckdb.DuckDBPyConnection) -> None:
    query = "select sum(records_in), sum(records_loaded), sum(records_quarantined) from meta.source_files"
    ((came, loaded, quarantined),) = con.execute(query).fetchall()
    ((stored,),) = con.execute("select count(*) from main.records").fetchall()
    require(came == loaded + quarantined, "records are lost", expected=came, found=f"{loaded} and {quarantined}")
    require(loaded == stored > 0, "the rest is not loaded", expected="a record at least", found=stored)


def _is_kept(rule_id: str, severity: str, data: Path, con: duckdb.DuckDBPyConnection) -> None:
    query = "select source_file_id, pointer, raw from meta.quarantine where rule = ?"
    refused = con.execute(query, [rule_id]).fetchall()
    if severity != "reject_example":
        is_refused = severity.startswith("reject_")
        expected = "a record in the quarantine" if is_refused else "none, as a warning refuses nothing"
        require(bool(refused) == is_refused, f"{rule_id} is {severity}", expected=expected, found=len(refused))
    for name, pointer, raw in refused:
        if "!" not in name:
            whole = (data / name).read_bytes()
            is_kept = raw in whole if pointer else raw == whole
            require(is_kept, "the quarantine has other bytes than the file", where=f"{name}#{pointer}")


def a_clause_is_told_at_its_place(subject: Subject, name: str) -> None:
    """A change of the sample gives the finding that its clause announces, and without the change there is none."""
    clause = subject.clauses[name]
    data = subject.laid_out(subject.sample_files, clause.change)
    if clause.is_check:
        before = subject.built_findings
        after = stored_findings(subject.corpus, subject.built(data))
    else:
        before = subject.read_findings
        after = read_folder(subject.corpus, data / subject.corpus.id).findings
    new = [finding for finding in (after - before).elements() if finding.rule == clause.rule]
    severity = clause.severity or rules_of(subject.corpus)[clause.rule].severity
    announced = [(finding.severity, finding.place) for finding in new if clause.words in finding.detail]
    require(
        announced == [(severity, clause.place)],
        f"the clause {name} is not told as announced",
        expected=f"{severity} at {clause.place}: ... {clause.words} ...",
        found="; ".join(f"{finding.severity} at {finding.place}: {finding.detail}" for finding in new) or "nothing new",
    )


UNRECOGNISED = "TH-05"
_STRANGE = "no-file-of-this-corpus.strange"


@dataclass(frozen=True, eq=False)
class _Broken:
    """A data folder with the sample and one broken file, which is in the place of a whole one or next to it."""

    data: Path
    file: str
    is_told: bool
    """Under the rule that was broken."""
    reading: ReadOnce

    def is_noticed(self, subject: Subject) -> bool:
        """Whether the reader says anything of the file that it does not say of the sample."""
        return any(finding.file == self.file for finding in self.reading.findings - subject.read_findings)


def rules_to_break(subject: Subject) -> list[str]:
    """List the common rules that files made from any sample can break."""
    return [rule for rule in subject.corpus.common_rules if rule in DAMAGES or rule == UNRECOGNISED]


def a_common_rule_is_told_and_kept(subject: Subject, rule: str) -> None:
    """Files made from the sample break a common rule: it is told at the file, the rest is loaded, and all comes back.

    Where a file so broken is not told at all, nothing may be lost: it comes back as it is.
    """
    if rule == UNRECOGNISED:
        strange = "Nobody knows what this is.\n"
        folder = subject.laid_out(subject.sample_files, lambda path: (path / _STRANGE).write_text(strange, "utf-8"))
        is_told_and_kept(subject, rule, folder)
        return
    broken = list(_broken_files(subject, rule))
    if not broken:
        raise CannotCheck(f"the sample has no file that could break {rule}")
    require(
        any(case.is_told for case in broken),
        f"none of {len(broken)} broken files that were made from the sample is told as {rule}",
        expected=f"{rule} in one of {', '.join(sorted({case.file for case in broken})[:5])}",
        found=", ".join(sorted({finding.rule for case in broken for finding in case.reading.findings})) or "nothing",
    )
    whole = next((case for case in broken if case.is_told and case.reading.loaded), None)
    if whole:
        is_told_and_kept(subject, rule, whole.data)
    _nothing_is_lost(subject, [case for case in broken if not case.is_noticed(subject)])


def _nothing_is_lost(subject: Subject, unnoticed: list[_Broken]) -> None:
    """Build files without a finding, many at once, and compare what is written back."""
    while unnoticed:
        chosen = {case.file: case for case in reversed(unnoticed)}
        unnoticed = [case for case in unnoticed if case is not chosen[case.file]]
        data = subject.laid_out(subject.sample_files)
        for name, case in chosen.items():
            shutil.copyfile(case.data / subject.corpus.id / name, data / subject.corpus.id / name)
        files_are_equal(subject, subject.built(data), data / subject.corpus.id)


def _broken_files(subject: Subject, rule: str) -> Iterator[_Broken]:
    """Break every file of the sample in every way; yield what the reader says.

    Where nothing is left to be loaded, the broken file is a copy next to the whole one.
    """
    for path in sorted(subject.sample_files.rglob("*")):
        name = path.relative_to(subject.sample_files)
        if path.is_file() and not skip_reason(str(name)):
            for content in DAMAGES[rule](path.read_bytes()):
                in_its_place = _broken(subject, rule, name, content)
                yield in_its_place
                if not in_its_place.reading.loaded:
                    yield _broken(subject, rule, name.with_name(f"{name.stem}-copy{name.suffix}"), content)


def _broken(subject: Subject, rule: str, name: Path, content: bytes) -> _Broken:
    data = subject.laid_out(subject.sample_files, lambda folder: (folder / name).write_bytes(content))
    reading = read_folder(subject.corpus, data / subject.corpus.id)
    is_told = any(finding.rule == rule and finding.file == str(name) for finding in reading.findings)
    return _Broken(data, str(name), is_told, reading)
