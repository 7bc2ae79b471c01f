"""What a folder of files looks like, by samples of some of them: the first format whose rule fits wins."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from talkhouse.guess import answer_rules, row_rules, text_rules, turn_rules
from talkhouse.guess.evidence import Guess, ids_text, quoted_path
from talkhouse.guess.record_values import at, texts_of
from talkhouse.guess.rest_of_records import People, people_of, split_of, with_rest
from talkhouse.guess.row_rules import CONVOKIT_FILES, looks_like_labels
from talkhouse.guess.sample import MOST, Sample, Samples, is_read, records_inside, sample
from talkhouse.guess.turn_rules import are_columns
from talkhouse.ingest.declared.declaration.model import Repair, standard_split
from talkhouse.ingest.declared.declaration.table import path_text
from talkhouse.ingest.declared.record_files import TEXTS
from talkhouse.ingest.declared.record_files.content import ending
from talkhouse.ingest.declared.record_files.repaired import REPAIRS, repaired
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.files.skipped import DECLARATION, SCHEMA
from talkhouse.ingest.sources import SourceFile, opened

if TYPE_CHECKING:
    from talkhouse.guess.trial import Trial

_MOST_FILES = 12
"""Files that are looked into; of files whose names differ in digits alone a few stand for all."""
_MOST_TEXTS, _SHORT = 200, 40_000
"""Text files of so few bytes that are looked into, too: a few of them say little of who speaks in all."""

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
    people: People | None = None
    sources: Mapping[str, SourceFile] = field(default_factory=dict)
    """All files by their paths, those in archives as long as these are open."""
    trial: "Trial | None" = None
    """What came of the samples when they were read by the declaration that was written."""
    known: str | None = None
    """The title of the corpus whose known page was written in place of a guess."""
    resembles: str | None = None
    """The title of a corpus whose page is known and was not taken."""

    @property
    def read_by_it(self) -> list[Sample]:
        """The samples that a declaration is tried on: dialogues, and who the speakers are."""
        return [*self.samples, *([self.people.sample] if self.people else [])]

    @property
    def broken(self) -> tuple[Repair, str] | None:
        """How most texts that are not ASCII can be mended, and how many; None where these are not most."""
        texts = [text for taken in self.samples for text in texts_of(taken.records) if not text.isascii()]
        lines = [line for text in texts for line in text.split("\n") if not line.isascii()]
        counts = {repair: sum(repaired(line, repair) != line for line in lines) for repair in REPAIRS}
        repair = max(REPAIRS, key=lambda repair: counts[repair])
        what = "lines that are not ASCII read as UTF-8 when mended"
        is_most = counts[repair] > MOST_BROKEN * len(lines)
        return (repair, f"{counts[repair]:,} of {len(lines):,} {what}") if is_most else None

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
        if self.known is not None:
            return ()
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
            "known": self.known,
            "resembles": self.resembles,
            "format": self.guess.format if self.guess else None,
            "files": [{"path": path, "split": split} for path, split in self.files],
            "id": self.id_text,
            "extra": list(self.guess.extra) if self.guess else [],
            "extra_of_turns": list(self.guess.left) if self.guess else [],
            "labels": [taken.path for taken in self.labels],
            "problems": self.problems,
            "left": [{"path": path, "reason": reason} for path, reason in self.left.items()],
            "to_do": list(self.to_do),
            "to_decide": self.to_decide,
            "sample": self.trial.as_data() if self.trial else None,
        }


MOST_BROKEN = 0.5
"""Share of such texts from which on they are mended."""
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
    folders: dict[str, dict[str, str]] = {}
    for path in readable:
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, {})[name] = path
    for paths in folders.values():
        first, *others = [name for name in CONVOKIT_FILES if name in paths] or [""]
        if first in CONVOKIT_FILES[:2] and len(others) > 1:
            guessed = Guess("convokit", f"it has {', '.join(others)} next to {first}")
            return Look(guessed, left=left, samples=_samples(list(paths.values()), readable), sources=by_path)
    found = _judged(_samples(_some(readable), readable), list(readable), left)
    found.sources = by_path
    return found


def _samples(paths: Sequence[str], files: Mapping[str, SourceFile]) -> list[Sample]:
    most = MOST.shared(len(paths))
    return [taken for path in paths if (taken := sample(files[path], path, most)) is not None]


def _judged(samples: Sequence[Sample], paths: Sequence[str], left: dict[str, str]) -> Look:
    """Return the look of a folder: of each file whether it has the dialogues, labels, or something else."""
    found = [_with_records(taken) for taken in samples]
    guessed, alike = _of_most(found)
    samples, own_guesses = [taken for taken, _ in found], {taken.path: own for taken, own in found}
    if guessed is None:
        left |= dict.fromkeys(paths, "looks like no format that is known")
        left |= {taken.path: _COLUMNS for taken in samples if taken.record == "file" and are_columns(taken.records)}
        return Look(None, left=left, samples=samples)
    people = people_of(guessed, [taken for taken in samples if taken not in alike])
    named = {people.sample.path} if people else set[str]()
    if people:  # an id is the same speaker's in all files
        guessed = replace(guessed, speaker=replace(guessed.speaker, scope="corpus"))
    others = [taken for taken in samples if taken not in alike and taken.path not in named]
    labels = [taken for taken in others if guessed.format == "turns" and looks_like_labels(taken)]
    left |= {taken.path: _why_left(taken, own_guesses[taken.path]) for taken in others if taken not in labels}
    strange = {_pattern(taken.path) for taken in others} - {_pattern(taken.path) for taken in alike}
    elsewhere = {*left, *named, *(taken.path for taken in labels)}
    left |= {path: "like another that is left" for path in paths if _pattern(path) in strange and path not in elsewhere}
    left_out = {*left, *named}
    files = [(path, split_of(path)) for path in paths if path not in left_out and _pattern(path) not in strange]
    files.sort(key=lambda file: (_ORDER.index(standard_split(file[1] or "", {})), file[0]))
    problems = {taken.path: taken.remark for taken in alike if taken.remark}
    if guessed.format == "turns" and guessed.dialogue.id is None and not guessed.lines:
        guessed = _with_folders(guessed, [path for path, _ in files])
    return Look(_split_by_files(guessed, files), files, labels, left, list(alike), problems, people)


_COLUMNS = "looks like a table by its columns, which is to be written by its rows"


def _with_folders(guessed: Guess, paths: Sequence[str]) -> Guess:
    """Return the guess with the question whether the files of a folder are one dialogue, as the days of a channel."""
    folders = {path.rpartition("/")[0] for path in paths}
    if "" in folders or len(folders) == len(paths):
        return guessed
    note = f"to decide: folder = true, if the files of a folder are one dialogue: {len(paths):,} in {len(folders):,}"
    return replace(guessed, notes={**guessed.notes, "dialogue": (*guessed.notes.get("dialogue", ()), note)})


def _of_most(found: Sequence[tuple[Sample, Guess | None]]) -> tuple[Guess | None, Samples]:
    """Return the guess of most records, those before others of which it is known who speaks; and the files like it."""
    weights: dict[object, tuple[bool, int]] = {}
    firsts: dict[object, Guess] = {}
    for taken, own in found:
        if own is None:
            continue
        firsts.setdefault(_kind(own), own)
        says_who = bool(own.format != "turns" or own.turn.role or own.turn.speaker)
        weights[_kind(own)] = says_who, weights.get(_kind(own), (False, 0))[1] + len(taken.records)
    first = firsts[max(weights, key=lambda kind: weights[kind])] if weights else None
    alike = [(taken, own) for taken, own in found if first is None or _has(taken, own, first)]
    samples = Samples(taken for taken, _ in alike)
    guessed = alike[0][1] if len(alike) == 1 else _fitting(samples)
    if first is not None and (guessed is None or _kind(guessed) != _kind(first)):
        return first, samples
    return (with_rest(guessed, samples) if guessed is not None else None), samples


def _with_records(taken: Sample) -> tuple[Sample, Guess | None]:
    """Return a sample of the records that fit a format, the file itself or what it has in a list, and the guess."""
    whole = _fitting(Samples([taken]))
    if taken.record != "file" or (whole is not None and _says_its_text(whole)):
        return taken, whole
    inside = list(records_inside(taken))
    fitting = [(inner, guessed) for inner in inside if (guessed := _fitting(Samples([inner]))) is not None]
    if whole is not None:  # where no name says what the text is, what lies further inside may
        fitting = [(inner, guessed) for inner, guessed in fitting if _says_its_text(guessed)]
    chosen, guessed = next((pair for pair in fitting if _says_its_text(pair[1])), next(iter(fitting), (taken, whole)))
    if not isinstance(chosen.record, tuple):
        return taken, whole
    others = [
        path_text(inner.record)
        for inner in inside
        if isinstance(inner.record, tuple)
        and ... not in chosen.record
        and inner.record != chosen.record
        and inner.records[0].keys() == chosen.records[0].keys()
    ]
    problem = f"{', '.join(others)} has such records too, and is not read" if others else chosen.problem
    return replace(chosen, problem=problem), guessed


def _says_its_text(guessed: Guess) -> bool:
    return not guessed.remarks.get("turn.text", "").startswith(_MARK)


def _split_by_files(guessed: Guess, files: Sequence[tuple[str, str | None]]) -> Guess:
    """Return the guess without a field that is a split, if the names of files have splits: only one of them counts."""
    path = guessed.dialogue.split
    if path is None or not any(split for _, split in files):
        return guessed
    dialogue = replace(guessed.dialogue, split=None)
    return replace(guessed, dialogue=dialogue, extra=(*guessed.extra, str(path[0])))


def _why_left(taken: Sample, own: Guess | None) -> str:
    if taken.problem:
        return taken.problem
    return f"looks like {own.format}, with other fields" if own else "looks like no format that is known"


def _has(taken: Sample, own: Guess | None, guessed: Guess) -> bool:
    """Whether a file has the fields that its format can't do without; an empty one has none that could be missing."""
    if not taken.records:
        return taken.problem is None
    if taken.is_text:
        return own is not None and all(getattr(own, key) == getattr(guessed, key) for key in _OF_TEXTS)
    same = taken.record == guessed.dialogue.record and taken.dialect == guessed.dialect
    return same and all(any(at(record, path) is not None for record in taken.records) for path in _kind(guessed)[1:])


_OF_TEXTS = ("format", "lines", "separators")


def _kind(guessed: Guess) -> tuple[Any, ...]:
    """Return the format, and the paths without which a file is not of it."""
    pair, preferred = guessed.pair, guessed.preference
    needed = [*guessed.needs, guessed.dialogue.turns, guessed.dialogue.text, preferred.chosen, preferred.rejected]
    needed += [pair.prompt, pair.response] if pair.each is None else [pair.each]
    needed += [*guessed.together, guessed.turn.text] if guessed.format == "turns" else []
    return guessed.format, *(tuple(takewhile(lambda name: isinstance(name, str), path)) for path in needed if path)


def _some(paths: Mapping[str, SourceFile]) -> list[str]:
    alike: dict[str, list[str]] = {}
    for path in paths:
        alike.setdefault(_pattern(path), []).append(path)
    groups = list(alike.values())
    chosen = [group[0] for group in groups] + [group[-1] for group in groups if len(group) > 1]
    chosen += [group[len(group) // 2] for group in groups if len(group) > 2]
    texts = [path for path, file in paths.items() if ending(file.path) in TEXTS and file.size <= _SHORT]
    return sorted({*chosen[:_MOST_FILES], *texts[:: 1 + len(texts) // _MOST_TEXTS]})


def _pattern(path: str) -> str:
    folder, _, name = path.rpartition("/")
    word = split_of(name)
    name = name.replace(word, "@") if word else name
    return re.sub(r"\d+", "0", f"{folder}/{name}")


def _inside(file: SourceFile) -> str:
    return str(PurePosixPath(*file.path.parts[1:]))


_RULES: tuple[Callable[[Samples], Guess | None], ...] = (
    text_rules.text_file,
    row_rules.convokit,
    answer_rules.preference,
    answer_rules.compared,
    answer_rules.pairs_of_messages,
    turn_rules.chat,
    turn_rules.sharegpt,
    answer_rules.zipped,
    turn_rules.tree,
    answer_rules.pairs,
    turn_rules.dialogue,
    text_rules.transcript,
    row_rules.turns,
)


def _fitting(samples: Samples) -> Guess | None:
    """Return the guess of the first rule that fits files of one kind; None where none does."""
    with_records = Samples(sample for sample in samples if sample.records)
    guesses = (rule(with_records) for rule in _RULES) if with_records else ()
    return next((guessed for guessed in guesses if guessed is not None), None)
