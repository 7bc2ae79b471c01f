"""The common rules: broken files are made from those of the sample, each with one thing wrong in it."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.files.skipped import skip_reason
from talkhouse.testing.checks.broken import is_told_and_kept
from talkhouse.testing.checks.sample import files_are_equal
from talkhouse.testing.damage import DAMAGES
from talkhouse.testing.failure import CannotCheck, require
from talkhouse.testing.findings import Reading, read_folder
from talkhouse.testing.subject import Subject

UNRECOGNISED = "TH-05"
_STRANGE = "no-file-of-this-corpus.strange"


class _Broken(NamedTuple):
    """A data folder with the sample and one broken file, which is in the place of a whole one or beside it."""

    data: Path
    file: str
    is_told: bool
    """Under the rule that was broken."""
    reading: Reading


def a_common_rule_is_told_and_kept(subject: Subject, rule: str) -> None:
    """Files made from the sample break a common rule: it is told at the file, the rest is loaded, and all comes back.

    Where a file so broken is not told at all, nothing may be lost: it comes back as it is.
    """
    if rule == UNRECOGNISED:
        is_told_and_kept(subject, rule, subject.laid_out(subject.sample_files, _add_strange))
        return
    broken = list(_broken_files(subject, rule))
    print([ (one.file,) for one in broken if not any(finding.file == one.file for finding in one.reading.told - subject.read_findings)])
    if not broken:
        raise CannotCheck(f"the sample has no file that could break {rule}")
    told = [one for one in broken if one.is_told]
    require(
        told,
        f"no broken file of {len(broken)} that were made from the sample is told as {rule}",
        expected=f"{rule} in one of {', '.join(sorted({one.file for one in broken})[:5])}",
        found=", ".join(sorted({one.rule for folder in broken for one in folder.reading.told})) or "nothing",
    )
    whole = next((one for one in told if one.reading.loaded), None)
    if whole:
        is_told_and_kept(subject, rule, whole.data)
    for one in broken:
        if not any(finding.file == one.file for finding in one.reading.told - subject.read_findings):
            con = subject.built(one.data)
            files_are_equal(subject, con, disk_files(one.data / subject.corpus.id, subject.corpus.id))


def _add_strange(folder: Path) -> None:
    (folder / _STRANGE).write_text("Nobody knows what this is.\n", encoding="utf-8")


def _broken_files(subject: Subject, rule: str) -> Iterator[_Broken]:
    """Break every file of the sample in every way, in its place and as a copy beside it; yield what its reader says."""
    for path in sorted(subject.sample_files.rglob("*")):
        name = path.relative_to(subject.sample_files)
        if path.is_file() and not skip_reason(str(name)):
            for content in DAMAGES[rule](path.read_bytes()):
                for place in (name, name.with_name(f"{name.stem}-copy{name.suffix}")):
                    yield _broken(subject, rule, place, content)


def _broken(subject: Subject, rule: str, name: Path, content: bytes) -> _Broken:
    data = subject.laid_out(subject.sample_files, lambda folder: (folder / name).write_bytes(content))
    reading = read_folder(subject.corpus, data / subject.corpus.id)
    is_told = any(one.rule == rule and one.file == str(name) for one in reading.told)
    return _Broken(data, str(name), is_told, reading)

