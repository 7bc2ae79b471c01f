"""What is unusual about a dialogue or a persona element that is loaded all the same: MP-07 to MP-10."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec import UNSET

from talkhouse.ingest.corpora.mpchat.format import Nesting, PersonaElement, SourceDialogue, TaskFile
from talkhouse.ingest.corpora.mpchat.persona_lists import Lists
from talkhouse.ingest.outcomes import ReaderFinding

_OF_MAIN_AUTHOR = frozenset({"candidate", "gpp_gold", "gpp_remainder", "si_main"})
_LABELS = {"(strong) E": 3, "E": 2, "I": 1, "(strong) I": 0}
"""The label of all three workers together, and how many of them see an entailment."""

_WORKERS = 3
_PICTURE = "file_name is not the id, '_' and the last part of direct_url"
_SHOWN = 10
_LONGEST = 200
"""Characters of a file's name that are shown."""


class ElementWarning(NamedTuple):
    """Something unusual about one persona element."""

    rule: str
    detail: str
    pointer: str
    element_id: str


def dialogue_warnings(
    task_file: TaskFile, dialogue: SourceDialogue, split: str, lists: Lists
) -> Iterator[ReaderFinding]:
    """Look at one dialogue: MP-08 to MP-10, one finding per kind."""
    if dialogue.main_author not in dialogue.authors:
        yield ReaderFinding("MP-08", f"{dialogue.main_author}, the main author, says nothing", pointer="/main_author")
    yield from _stray_lists(task_file, dialogue, lists)
    yield from _picture(dialogue)
    # In train the field itself is odd, whatever is in it.
    value = getattr(dialogue, task_file.candidates)
    has_candidates = value is not UNSET if split == "train" else bool(value)
    if has_candidates == (split == "train"):
        detail = f"a {split} dialogue {'with' if has_candidates else 'without'} {task_file.candidates}"
        yield ReaderFinding("MP-10", detail, pointer=f"/{task_file.candidates}" if has_candidates else "")
    if isinstance(dialogue.all_personas, list):
        yield from _missing_personas(lists)


def _stray_lists(task_file: TaskFile, dialogue: SourceDialogue, lists: Lists) -> Iterator[ReaderFinding]:
    """MP-08: lists on turns of others than the main author."""
    filled: defaultdict[str, list[int]] = defaultdict(list)
    for (_, turn), one in lists.items():
        if turn is not None and one.field.nesting in (Nesting.PER_TURN, Nesting.ONE_PER_TURN):
            filled[one.field.name].append(turn)
    for turn, texts in enumerate(getattr(dialogue, "nrp_candidate_responses", None) or ()):
        if texts:
            filled[task_file.candidates].append(turn)
    for name, turns in filled.items():
        stray = [turn for turn in turns if dialogue.authors[turn] != dialogue.main_author]
        if stray:
            detail = f"{name} is filled on turns of others: {_listed(stray)}"
            yield ReaderFinding("MP-08", detail, pointer=f"/{name}/{stray[0]}", turn_index=stray[0])


def _picture(dialogue: SourceDialogue) -> Iterator[ReaderFinding]:
    """MP-09: the dialogue's own picture, whose name begins with the id of the post; without one, both may be empty."""
    name, url = dialogue.file_name, dialogue.direct_url
    if isinstance(name, str) and isinstance(url, str) and (name or dialogue.has_image):
        post = dialogue.message_ids[0] if isinstance(dialogue.message_ids, list) else name.partition("_")[0]
        if name != picture_name(post, url):
            detail = f"{_PICTURE}: {name[:_LONGEST]!r}, and not {picture_name(post, url)[:_LONGEST]!r}"
            yield ReaderFinding("MP-09", detail, pointer="/file_name")


def picture_name(native_id: str, url: str) -> str:
    """Return the name that the publisher gives to the picture of a post, be it a dialogue's or a persona's."""
    return f"{native_id}_{url.rpartition('/')[2]}"


def _missing_personas(lists: Lists) -> Iterator[ReaderFinding]:
    """MP-09: personas of the main author that a task offers and all_personas does not have."""
    known = {use.native_id for use in lists["all", None].uses} if ("all", None) in lists else set()
    for (name, turn), one in lists.items():
        missing = [use.native_id for use in one.uses if use.native_id not in known] if name in _OF_MAIN_AUTHOR else []
        if missing:
            detail = f"{one.field.name} has personas that all_personas has not: {_listed(missing)}"
            yield ReaderFinding("MP-09", detail, pointer=one.pointer(0), turn_index=turn)


def persona_problems(element: PersonaElement) -> Iterator[tuple[str, str]]:
    """Look at the times and the file name of a distinct persona; yields rules and what breaks them."""
    has_one, has_other = (time not in (UNSET, None) for time in (element.created_utc, element.created_utcs))
    if has_one == has_other:
        yield "MP-07", f"{'both' if has_one else 'neither'} of created_utc and created_utcs"
    if isinstance(element.direct_url, str) and element.file_name != picture_name(element.id, element.direct_url):
        yield "MP-09", _PICTURE


def label_problems(element: PersonaElement) -> Iterator[tuple[str, str]]:
    """Look at the labels of an element that has them."""
    overall, votes = element.label_overall, element.label_per_worker
    if overall is UNSET and votes is UNSET:
        return
    if overall not in _LABELS:
        yield "MP-07", f"label_overall {overall!r} is unknown" if isinstance(overall, str) else "no label_overall"
    cast = votes if isinstance(votes, list) else []
    if len(cast) != _WORKERS:
        yield "MP-07", f"{len(cast)} workers instead of {_WORKERS}"
    elif any(vote not in (0, 1) for _, vote in cast):
        yield "MP-07", "a vote that is neither 0 nor 1"
    elif isinstance(overall, str) and _LABELS.get(overall, ayes := sum(vote or 0 for _, vote in cast)) != ayes:
        yield "MP-07", f"label_overall {overall} where {ayes:g} of {_WORKERS} workers say 1"


def grouped(warnings: Iterable[ElementWarning]) -> Iterator[ReaderFinding]:
    """Make one finding of each kind of warning, with the first ids; its pointer is that of the first."""
    kinds: defaultdict[tuple[str, str], list[ElementWarning]] = defaultdict(list)
    for warning in warnings:
        kinds[warning.rule, warning.detail].append(warning)
    for (rule, detail), some in kinds.items():
        ids = _listed([warning.element_id for warning in some])
        yield ReaderFinding(rule, f"{detail}: {ids}", pointer=some[0].pointer)


def _listed(values: list[str] | list[int]) -> str:
    """Show the first of many values, and how many there are."""
    shown = ", ".join(map(str, values[:_SHOWN]))
    return shown if len(values) <= _SHOWN else f"{shown} ... ({len(values)} in all)"
