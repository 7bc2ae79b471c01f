"""What a folder of files looks like, by samples of some of them: the first format whose rule fits wins."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from talkhouse.guess import answer_rules, line_rules, text_rules, turn_rules
from talkhouse.guess.field_meanings import (
    Guess,
    quoted_path,
)
from talkhouse.guess.record_values import (
    at,
)
from talkhouse.guess.rest_of_records import people_of, split_of, with_rest
from talkhouse.guess.sample import MOST, TEXT, Sample, is_read, records_inside, sample
from talkhouse.guess.turn_rules import CONVOKIT_FILES, ids_text, looks_like_labels
from talkhouse.ingest.declared.declaration.model import JsonPath, standard_split
from talkhouse.ingest.declared.declaration.table import path_text
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.files.skipped import DECLARATION, SCHEMA
from talkhouse.ingest.sources import SourceFile, opened

if TYPE_CHECKING:
    from talkhouse.guess.trial import Trial

_MOST_FILES = 12
"""Files that are looked into; of files whose names differ in digits alone a few stand for all."""

_ORDER = ("train", "validation", "test", None)


@dataclass
class Look:
    """What a folder looks like."""

    guess: Guess | None
    files: list[tuple[str, str | None]] = field(default_factory=list)
    """Paths with their splits, by split and then in order; none for ConvoKit, whose files are known by their names."""
    labels: list[Sample] = field(default_factory=list)
    """Files that seem to hold labels of the dialogues."""
    left: dict[str, str] = field(default_factory=dict)
    """Path -> why it is not read."""
    samples: list[Sample] = field(default_factory=list)
    """Of the files that hold dialogues."""
    problems: dict[str, str] = field(default_factory=dict)
    """Path of such a file -> what is wrong in its beginning, which a build will name too."""
    people: tuple[dict[str, str], dict[str, str]] | None = None
    """The table of a file that names the speakers, with what speaks for it; None where there is none."""
    people_sample: Sample | None = None
    sources: Mapping[str, SourceFile] = field(default_factory=dict)
    """All files by their paths, those in archives as long as these are open."""
    trial: "Trial | None" = None
    """What came of the samples when they were read by the declaration that was written."""

    @property
    def read_by_it(self) -> list[Sample]:
        """The samples that a declaration is tried on: dialogues, and who the speakers are."""
        return [*self.samples, *([self.people_sample] if self.people_sample else [])]

    @property
    def id_text(self) -> str | None:
        """The id as the declaration has it; None where it has none."""
        if self.guess is None or self.guess.dialogue.id is None:
            return None
        is_rows = self.guess.format == "turns"
        return ids_text(self.guess.together) if is_rows else quoted_path(self.guess.dialogue.id, is_column=False)

    @property
    def to_do(self) -> tuple[str, ...]:
        """What no file says."""
        return _TO_DO if self.guess else ("format", *_TO_DO)

    @property
    def to_decide(self) -> list[str]:
        """Each guess that is one of several, with its key."""
        if self.guess is None:
            return []
        of_ids = "".join(
            f"; {line.replace('  # ', ': ')}"
            for line in self.guess.notes.get("dialogue", ())
            if line.startswith("id =")
        )
        lines = [(f"[{table}]", note) for table, notes in self.guess.notes.items() for note in notes]
        lines += [(key, text + of_ids * (key == "dialogue.id")) for key, text in self.guess.remarks.items()]
        return [f"{key}: {text.replace(_MARK, '')}" for key, text in lines if _MARK in text]

    def as_data(self, folder: Path) -> dict[str, Any]:
        """Return the object that ``--json`` prints."""
        return {
            "declaration": str(folder / DECLARATION),
            "format": self.guess.format if self.guess else None,
            "files": [{"path": path, "split": split} for path, split in self.files],
            "id": self.id_text,
            "extra": list(self.guess.extra) if self.guess else [],
            "labels": [taken.path for taken in self.labels],
            "problems": self.problems,
            "left": [{"path": path, "reason": reason} for path, reason in self.left.items()],
            "to_do": list(self.to_do),
            "to_decide": self.to_decide,
            "sample": self.trial.as_data() if self.trial else None,
        }


_MARK = "to decide: "
"""How the comment of a guess begins that is one of several."""
_TO_DO = ("licence", "citation")


def look(folder: Path) -> Look:
    """Look into some files of a folder as ``looked_into`` does, and close its archives."""
    with looked_into(folder) as seen:
        return seen


@contextmanager
def looked_into(folder: Path) -> Iterator[Look]:
    """Look into some files of a folder, archives as folders, and keep these open; or into one file or archive.

    Raises SourceError where there is no such folder, where it is empty, or can't be read.
    """
    files = disk_files(folder, "corpus" if folder.is_dir() else f"corpus/{folder.name}")
    with opened(files) as (seen, skipped):
        left = {
            _inside(file.file): file.reason.removeprefix("skipped by name: ")
            for file in skipped
            if _inside(file.file) != SCHEMA  # ours: it comes again with the declaration
        }
        yield _look(seen, left)


def looks_like(paths: Iterable[Path]) -> str | None:
    """Return the format that files, folders or archives look like; None where that is none.

    Raises SourceError as ``look`` does.
    """
    listed = [file for number, path in enumerate(paths) for file in disk_files(path, f"corpus/{number}-{path.name}")]
    with opened(listed) as (seen, _):
        guessed = _look(seen, {}).guess
    return guessed.format if guessed else None


def _look(seen: Sequence[SourceFile], left: dict[str, str]) -> Look:
    by_path = {_inside(file): file for file in seen}
    readable = {path: file for path, file in by_path.items() if is_read(path)}
    left |= {path: "no ending of a format that is known" for path in by_path if path not in readable}
    folders = {str(PurePosixPath(path).parent) for path in readable if PurePosixPath(path).name in CONVOKIT_FILES[:2]}
    for folder in folders:
        names = {PurePosixPath(path).name for path in readable if str(PurePosixPath(path).parent) == folder}
        if len(names & set(CONVOKIT_FILES)) > 2:
            first, *others = (name for name in CONVOKIT_FILES if name in names)
            reason = f"it has {', '.join(others)} beside {first}"
            of_folder = [path for path in readable if str(PurePosixPath(path).parent) == folder]
            most = MOST.shared(len(of_folder))
            some = [taken for path in of_folder if (taken := sample(readable[path], path, most)) is not None]
            return Look(Guess("convokit", reason), left=left, samples=some, sources=by_path)
    chosen = _some(list(readable))
    most = MOST.shared(len(chosen))
    samples = [taken for path in chosen if (taken := sample(readable[path], path, most)) is not None]
    found = _judged(samples, list(readable), left)
    found.sources = by_path
    return found


def _judged(samples: Sequence[Sample], paths: Sequence[str], left: dict[str, str]) -> Look:
    """Find what most records look like, those before others of which it is known who speaks; and the files like it."""
    weights: dict[object, tuple[bool, int]] = {}
    firsts: dict[object, Guess] = {}
    samples = [_with_records(taken) for taken in samples]
    for taken in samples:
        own = _fitting([taken])
        if own is None:
            continue
        key = (own.format, *_needed(own))
        firsts.setdefault(key, own)
        says_who = bool(own.format != "turns" or own.turn.role or own.turn.speaker)
        weights[key] = says_who, weights.get(key, (False, 0))[1] + len(taken.records)
    first = firsts[max(weights, key=lambda key: weights[key])] if weights else None
    alike = [taken for taken in samples if first is None or _has(taken, first)]
    guessed = guess(alike)
    if first is not None and (
        guessed is None or (guessed.format, *_needed(guessed)) != (first.format, *_needed(first))
    ):
        guessed = first
    if guessed is None:
        left |= dict.fromkeys(paths, "looks like no format that is known")
        return Look(None, left=left, samples=list(samples))
    return _sorted_out(guessed, alike, samples, paths, left)


def _with_records(taken: Sample) -> Sample:
    """Return a sample whose records are what fits a format: the file itself, or else what it has in a list."""
    whole = _fitting([taken]) if taken.record == "file" else None
    if taken.record != "file" or (whole is not None and _says_its_text(whole)):
        return taken
    inside = list(records_inside(taken))
    fitting = [(inner, guessed) for inner in inside if (guessed := _fitting([inner])) is not None]
    known = [inner for inner, guessed in fitting if _says_its_text(guessed)]
    # Where no name says what the text is, what lies further inside may.
    chosen = next(iter(known), taken if whole is not None else next((inner for inner, _ in fitting), None))
    if chosen is None or not isinstance(chosen.record, tuple):
        return taken
    others = [
        path_text(inner.record)
        for inner in inside
        if isinstance(inner.record, tuple)
        and ... not in chosen.record
        and inner.record != chosen.record
        and inner.records[0].keys() == chosen.records[0].keys()
    ]
    problem = f"{', '.join(others)} has such records too, and is not read" if others else chosen.problem
    return replace(chosen, problem=problem)


def _says_its_text(guessed: Guess) -> bool:
    return not guessed.remarks.get("turn.text", "").startswith(_MARK)


def _sorted_out(
    guessed: Guess, alike: Sequence[Sample], samples: Sequence[Sample], paths: Sequence[str], left: dict[str, str]
) -> Look:
    """Return of each file whether it has the dialogues, labels, or something else."""
    others = [taken for taken in samples if taken not in alike]
    people_sample, people = people_of(guessed, others)
    if people is not None:  # an id is the same speaker's in all files
        guessed = replace(guessed, speaker=replace(guessed.speaker, scope="corpus"))
    others = [taken for taken in others if taken is not people_sample]
    labels = [taken for taken in others if guessed.format == "turns" and looks_like_labels(taken)]
    left |= {taken.path: _why_left(taken) for taken in others if taken not in labels}
    left = {path: why for path, why in left.items() if people_sample is None or path != people_sample.path}
    strange = {_pattern(taken.path) for taken in others} - {_pattern(taken.path) for taken in alike}
    like_others = [path for path in paths if _pattern(path) in strange and path not in left]
    left |= {path: "like another that is left" for path in like_others if path not in {f.path for f in labels}}
    named = {people_sample.path} if people_sample else set()
    files = [
        (path, split_of(path))
        for path in paths
        if path not in left and path not in named and _pattern(path) not in strange
    ]
    files.sort(key=lambda file: (_ORDER.index(standard_split(file[1] or "", {})), file[0]))
    problems = {taken.path: taken.remark for taken in alike if taken.remark}
    guessed = _with_one_split(guessed, files)
    return Look(guessed, files, labels, left, list(alike), problems, people, people_sample)


def _with_one_split(guessed: Guess, files: Sequence[tuple[str, str | None]]) -> Guess:
    """Return the guess without a field that is a split, if the names of files have splits: only one of them counts."""
    path = guessed.dialogue.split
    if path is None or not any(split for _, split in files):
        return guessed
    dialogue = replace(guessed.dialogue, split=None)
    return replace(guessed, dialogue=dialogue, extra=(*guessed.extra, str(path[0])))


def _why_left(taken: Sample) -> str:
    if taken.problem:
        return taken.problem
    own = _fitting([taken])
    return f"looks like {own.format}, with other fields" if own else "looks like no format that is known"


def _has(taken: Sample, guessed: Guess) -> bool:
    """Whether a file has the fields that its format can't do without; an empty one has none that could be missing."""
    if not taken.records:
        return taken.problem is None
    if taken.form.partition(",")[0] == TEXT:
        own = _fitting([taken])
        return own is not None and (own.format, own.lines, own.separators) == (
            guessed.format,
            guessed.lines,
            guessed.separators,
        )
    same = taken.record == guessed.dialogue.record and taken.dialect == guessed.dialect
    return same and all(any(at(record, path) is not None for record in taken.records) for path in _needed(guessed))


def _needed(guessed: Guess) -> list[JsonPath]:
    pair, preferred = guessed.pair, guessed.preference
    needed = [*guessed.needs, guessed.dialogue.turns, guessed.dialogue.text, preferred.chosen, preferred.rejected]
    needed += [pair.prompt, pair.response] if pair.each is None else [pair.each]
    needed += [*guessed.together, guessed.turn.text] if guessed.format == "turns" else []
    return [tuple(takewhile(lambda name: isinstance(name, str), path)) for path in needed if path]


def _some(paths: Sequence[str]) -> list[str]:
    alike: dict[str, list[str]] = {}
    for path in paths:
        alike.setdefault(_pattern(path), []).append(path)
    groups = list(alike.values())
    chosen = [group[0] for group in groups] + [group[-1] for group in groups if len(group) > 1]
    chosen += [group[len(group) // 2] for group in groups if len(group) > 2]
    return sorted(set(chosen[:_MOST_FILES]))


def _pattern(path: str) -> str:
    folder, _, name = path.rpartition("/")
    word = split_of(name)
    name = name.replace(word, "@") if word else name
    return re.sub(r"\d+", "0", f"{folder}/{name}")


def _inside(file: SourceFile) -> str:
    return str(PurePosixPath(*file.path.parts[1:]))


_RULES: tuple[Callable[[Sequence[Sample]], Guess | None], ...] = (
    line_rules.text_file,
    turn_rules.convokit,
    text_rules.preference,
    answer_rules.compared,
    text_rules.pairs_of_messages,
    turn_rules.chat,
    turn_rules.sharegpt,
    answer_rules.zipped,
    turn_rules.tree,
    text_rules.pairs,
    turn_rules.dialogue,
    text_rules.transcript,
    turn_rules.turns,
)


def guess(samples: Sequence[Sample]) -> Guess | None:
    """Return what files of one kind look like, with what else their records have; None where no rule fits."""
    guessed = _fitting(samples)
    return with_rest(guessed, samples) if guessed is not None else None


def _fitting(samples: Sequence[Sample]) -> Guess | None:
    with_records = [sample for sample in samples if sample.records]
    guesses = (rule(with_records) for rule in _RULES) if with_records else ()
    return next((guessed for guessed in guesses if guessed is not None), None)
