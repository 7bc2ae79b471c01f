"""What is unusual about what is loaded all the same, and which examples are rejected: MP-03 to MP-05, MP-07 to -10."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple

from msgspec import UNSET, Raw, Struct

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.mpchat.format import (
    GROUNDING,
    RESPONSE,
    SPEAKER,
    GroundingDialogue,
    Lists,
    Nesting,
    PersonaElement,
    PersonaList,
    ResponseDialogue,
    SourceDialogue,
    TaskFile,
)
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


def unusual_values(dialogue: SourceDialogue, nan: list[int]) -> Iterator[ReaderFinding]:
    """MP-14: what the authors' code takes all the same, since Python does."""
    if None in dialogue.authors:
        turns = [turn for turn, name in enumerate(dialogue.authors) if name is None]
        yield ReaderFinding("MP-14", f"no author of the messages {_listed(turns)}", pointer=f"/authors/{turns[0]}")
    if not isinstance(dialogue.has_image, bool):
        shown = "null" if dialogue.has_image is None else dialogue.has_image
        yield ReaderFinding("MP-14", f"has_image is {shown}", pointer="/has_image")
    if nan:
        yield ReaderFinding(
            "MP-14", f"the time is NaN of the messages {_listed(nan)}", pointer=f"/created_utcs/{nan[0]}"
        )


def _stray_lists(task_file: TaskFile, dialogue: SourceDialogue, lists: Lists) -> Iterator[ReaderFinding]:
    """MP-08: lists on turns of others than the main author."""
    filled: defaultdict[str, list[int]] = defaultdict(list)
    for (_, turn), personas in lists.items():
        if turn is not None and personas.field.nesting in (Nesting.PER_TURN, Nesting.ONE_PER_TURN):
            filled[personas.field.name].append(turn)
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
    for (name, turn), personas in lists.items():
        missing = [use.native_id for use in personas.uses if name in _OF_MAIN_AUTHOR and use.native_id not in known]
        if missing:
            detail = f"{personas.field.name} has personas that all_personas has not: {_listed(missing)}"
            yield ReaderFinding("MP-09", detail, pointer=personas.pointer(0), turn_index=turn)


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


CANDIDATES = 100
"""The authors' --max_num_responses, --max_num_candidate_persona_elements and --max_num_candidate_authors."""


class _Title(Struct):
    title: str


def answers_first(dialogue: SourceDialogue, lists: Lists) -> set[int]:
    """Return the turns whose candidate list has the answer first, as the authors' code asserts it."""
    if isinstance(dialogue, ResponseDialogue):
        candidates = dialogue.nrp_candidate_responses or []
        return {turn for turn, texts in enumerate(candidates) if texts and texts[0] == dialogue.messages[turn]}
    if isinstance(dialogue, GroundingDialogue):
        both = (
            (turn, own, lists.get(("gpp_gold", turn))) for (name, turn), own in lists.items() if name == "gpp_persona"
        )
        return {
            turn
            for turn, own, gold in both
            if turn is not None and gold and own.uses[0].native_id == gold.uses[0].native_id
        }
    last = len(dialogue.messages) - 1
    candidates_of, main = lists.get(("si_author", last)), lists.get(("si_main", None))
    if candidates_of is None or not candidates_of.sizes:
        return set()
    first = candidates_of.raws[: candidates_of.sizes[0]]
    return {last} if _joined(first) == _joined(main.raws if main else []) else set()


def rejected_examples(
    task_file: TaskFile, dialogue: SourceDialogue, split: str, lists: Lists, first: set[int]
) -> Iterator[ReaderFinding]:
    """Report each example that is rejected; a finding without a turn is about all examples of the record."""
    has_candidates = split != "train"
    if isinstance(dialogue, ResponseDialogue):
        yield from _responses(dialogue, lists, first, has_candidates=has_candidates)
    elif isinstance(dialogue, GroundingDialogue):
        for turn in _turns_of_main_author(dialogue):
            if ("gpp_gold", turn) in lists:
                yield from _grounding(turn, lists, first, has_candidates=has_candidates)
    else:
        yield from _speaker(len(dialogue.messages) - 1, lists, first, has_candidates=has_candidates)
    if has_candidates:
        yield from _repeats(task_file, dialogue, lists, first)


def _responses(
    dialogue: ResponseDialogue, lists: Lists, first: set[int], *, has_candidates: bool
) -> Iterator[ReaderFinding]:
    turns = _turns_of_main_author(dialogue)
    wrong = _wrong_size(lists.get(("candidate", None)), RESPONSE)
    if turns and wrong:
        yield _rejected("MP-05", RESPONSE, f"candidate_personas {wrong}", "/candidate_personas", None)
    if has_candidates:
        lists_of_turns = dialogue.nrp_candidate_responses or [None] * len(dialogue.messages)
        for turn in turns:
            texts, pointer = lists_of_turns[turn], f"/{RESPONSE.candidates}/{turn}"
            if not texts:
                yield _rejected("MP-03", RESPONSE, "no candidates", pointer, turn)
                continue
            if turn not in first:
                yield _rejected("MP-03", RESPONSE, "the first candidate is not the message", pointer, turn)
            if len(texts) != CANDIDATES:
                yield _rejected("MP-04", RESPONSE, f"{len(texts)} candidates, not {CANDIDATES}", pointer, turn)


def _grounding(turn: int, lists: Lists, first: set[int], *, has_candidates: bool) -> Iterator[ReaderFinding]:
    wrong = _wrong_size(lists.get(("gpp_remainder", turn)), GROUNDING)
    candidates, pointer = lists.get(("gpp_persona", turn)), f"/{GROUNDING.candidates}/{turn}"
    if wrong:
        yield _rejected("MP-05", GROUNDING, f"gpp_candidate_personas {wrong}", f"/gpp_candidate_personas/{turn}", turn)
    if has_candidates and candidates is None:
        yield _rejected("MP-03", GROUNDING, "no candidates", pointer, turn)
    elif has_candidates and candidates:
        if turn not in first:
            yield _rejected("MP-03", GROUNDING, "the first candidate is not the gold persona", pointer, turn)
        yield from _too_few(GROUNDING, len(candidates.uses), pointer, turn)


def _speaker(last: int, lists: Lists, first: set[int], *, has_candidates: bool) -> Iterator[ReaderFinding]:
    wrong = _wrong_size(lists.get(("si_main", None)), SPEAKER)
    candidates, pointer = lists.get(("si_author", last)), f"/{SPEAKER.candidates}"
    if wrong:
        main = "si_main_author_candidate_personas"
        yield _rejected("MP-05", SPEAKER, f"{main} {wrong}", f"/{main}", None)
    if has_candidates and candidates is None:
        yield _rejected("MP-03", SPEAKER, "no candidates", pointer, None)
    elif has_candidates and candidates:
        if not first:
            yield _rejected("MP-03", SPEAKER, "the first author's titles are not the main author's", pointer, None)
        sizes = candidates.sizes
        wrong_sizes = [k for k, size in enumerate(sizes[:CANDIDATES]) if not 1 <= size <= SPEAKER.limit]
        if wrong_sizes:
            detail = f"{len(wrong_sizes)} candidate authors have a list of other than 1 to {SPEAKER.limit} elements"
            yield _rejected("MP-05", SPEAKER, detail, f"{pointer}/{wrong_sizes[0]}", None)
        yield from _too_few(SPEAKER, len(sizes), pointer, None)


def _too_few(task_file: TaskFile, count: int, pointer: str, turn: int | None) -> Iterator[ReaderFinding]:
    if count < CANDIDATES:
        yield _rejected("MP-04", task_file, f"{count} candidates, fewer than {CANDIDATES}", pointer, turn)
    elif count > CANDIDATES:
        detail = f"{count} candidates: the first {CANDIDATES} are taken"
        yield ReaderFinding("MP-04", detail, pointer=pointer, turn_index=turn, severity="warn")


def _repeats(task_file: TaskFile, dialogue: SourceDialogue, lists: Lists, first: set[int]) -> Iterator[ReaderFinding]:
    turns = sorted(turn for turn in first if _is_repeated(task_file, dialogue, lists, turn))
    if turns:
        pointer = f"/{task_file.candidates}" + ("" if task_file is SPEAKER else f"/{turns[0]}")
        detail = f"the answer stands among its candidates again, at turn {', '.join(map(str, turns))}"
        yield ReaderFinding("MP-09", detail, pointer=pointer, turn_index=turns[0])


def _is_repeated(task_file: TaskFile, dialogue: SourceDialogue, lists: Lists, turn: int) -> bool:
    """Whether another candidate has the gold one's text; lengths are compared first, words where these agree."""
    if isinstance(dialogue, ResponseDialogue):
        texts = (dialogue.nrp_candidate_responses or [])[turn] or []
        return texts.count(texts[0]) > 1
    personas = lists[task_file.lists[-1].set_name, turn]
    sizes = (personas.sizes or [1] * len(personas.uses))[:CANDIDATES]
    ends = list(accumulate(sizes, initial=0))
    characters = list(accumulate((use.title_length for use in personas.uses), initial=0))
    lengths = [characters[end] - characters[start] + end - start for start, end in pairwise(ends)]
    same = [k for k, length in enumerate(lengths) if length == lengths[0] and sizes[k]]
    gold, *others = [_joined(personas.raws[ends[k] : ends[k + 1]]) for k in same] if len(same) > 1 else [""]
    return gold in others


def _turns_of_main_author(dialogue: SourceDialogue) -> list[int]:
    return [turn for turn, author in enumerate(dialogue.authors) if author == dialogue.main_author]


def _wrong_size(personas: PersonaList | None, task_file: TaskFile) -> str:
    size = len(personas.uses) if personas else 0
    return "" if 1 <= size <= task_file.limit else f"has {size} elements, not 1 to {task_file.limit}"


def _rejected(rule: str, task_file: TaskFile, detail: str, pointer: str, turn: int | None) -> ReaderFinding:
    return ReaderFinding(rule, detail, pointer=pointer, task=task_file.task, turn_index=turn)


def _joined(raws: list[Raw]) -> str:
    return " ".join(decode.decoder(_Title).decode(raw).title for raw in raws)
