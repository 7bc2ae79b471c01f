"""The common rules: broken files are made from those of the sample, each with one thing wrong in it."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from talkhouse.ingest.files.skipped import skip_reason
from talkhouse.testing.checks.broken import is_told_and_kept
from talkhouse.testing.checks.sample import files_are_equal
from talkhouse.testing.damage import DAMAGES
from talkhouse.testing.failure import CannotCheck, require
from talkhouse.testing.findings import Reading, read_folder
from talkhouse.testing.subject import Subject

UNRECOGNISED = "TH-05"
_STRANGE = "no-file-of-this-corpus.strange"


@dataclass(frozen=True, eq=False)
class _Broken:
    """A data folder with the sample and one broken file, which is in the place of a whole one or beside it."""

    data: Path
    file: str
    is_told: bool
    """Under the rule that was broken."""
    reading: Reading

    def is_noticed(self, subject: Subject) -> bool:
        """Tell whether the reader says anything of the file that it does not say of the sample."""
        return any(told.file == self.file for told in self.reading.told - subject.read_findings)


def rules_to_break(subject: Subject) -> list[str]:
    """List the common rules that files made from any sample can break."""
    return [rule for rule in subject.corpus.common_rules if rule in DAMAGES or rule == UNRECOGNISED]


def a_common_rule_is_told_and_kept(subject: Subject, rule: str) -> None:
    """Files made from the sample break a common rule: it is told at the file, the rest is loaded, and all comes back.

    Where a file so broken is not told at all, nothing may be lost: it comes back as it is.
    """
    if rule == UNRECOGNISED:
        is_told_and_kept(subject, rule, subject.laid_out(subject.sample_files, _add_strange))
        return
    broken = list(_broken_files(subject, rule))
    if not broken:
        raise CannotCheck(f"the sample has no file that could break {rule}")
    require(
        any(one.is_told for one in broken),
        f"none of {len(broken)} broken files that were made from the sample is told as {rule}",
        expected=f"{rule} in one of {', '.join(sorted({one.file for one in broken})[:5])}",
        found=", ".join(sorted({told.rule for one in broken for told in one.reading.told})) or "nothing",
    )
    whole = next((one for one in broken if one.is_told and one.reading.loaded), None)
    if whole:
        is_told_and_kept(subject, rule, whole.data)
    _nothing_is_lost(subject, [one for one in broken if not one.is_noticed(subject)])


def _nothing_is_lost(subject: Subject, unnoticed: list[_Broken]) -> None:
    """Build files of which nothing was told, many at once, and compare what is written back."""
    while unnoticed:
        chosen = {one.file: one for one in reversed(unnoticed)}
        unnoticed = [one for one in unnoticed if one is not chosen[one.file]]
        data = subject.laid_out(subject.sample_files)
        for name, one in chosen.items():
            shutil.copyfile(one.data / subject.corpus.id / name, data / subject.corpus.id / name)
        files_are_equal(subject, subject.built(data), data / subject.corpus.id)


def _add_strange(folder: Path) -> None:
    (folder / _STRANGE).write_text("Nobody knows what this is.\n", encoding="utf-8")


def _broken_files(subject: Subject, rule: str) -> Iterator[_Broken]:
    """Break every file of the sample in every way; yield what the reader says.

    Where nothing is left to be loaded, the broken file is a copy beside the whole one.
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
    is_told = any(one.rule == rule and one.file == str(name) for one in reading.told)
    return _Broken(data, str(name), is_told, reading)
