"""Examples that the authors' code would refuse (MP-03 to MP-05), and lists that hold the answer twice (MP-09)."""

from collections.abc import Iterator
from itertools import accumulate, pairwise

from msgspec import Raw, Struct

from ingest import decode
from ingest.corpora.mpchat.elements import Lists, UsedList
from ingest.corpora.mpchat.files import GROUNDING, RESPONSE, SPEAKER, Kind
from ingest.corpora.mpchat.format import GroundingTalk, ResponseTalk, Talk
from ingest.outcomes import ReaderFinding

CANDIDATES = 100
"""The authors' --max_num_responses, --max_num_candidate_persona_elements and --max_num_candidate_authors."""


class _Title(Struct):
    title: str


def answers_first(talk: Talk, lists: Lists) -> set[int]:
    """Give the turns whose candidate list has the answer first, as the authors' code asserts it."""
    if isinstance(talk, ResponseTalk):
        candidates = talk.nrp_candidate_responses or []
        return {turn for turn, texts in enumerate(candidates) if texts and texts[0] == talk.messages[turn]}
    if isinstance(talk, GroundingTalk):
        both = (
            (turn, one, lists.get(("gpp_gold", turn))) for (name, turn), one in lists.items() if name == "gpp_persona"
        )
        return {
            turn
            for turn, one, gold in both
            if turn is not None and gold and one.uses[0].native_id == gold.uses[0].native_id
        }
    last = len(talk.messages) - 1
    candidates_of, main = lists.get(("si_author", last)), lists.get(("si_main", None))
    if candidates_of is None or not candidates_of.elements.sizes:
        return set()
    first = candidates_of.elements.raws[: candidates_of.elements.sizes[0]]
    return {last} if _joined(first) == _joined(main.elements.raws if main else []) else set()


def refusals(kind: Kind, talk: Talk, split: str, lists: Lists, first: set[int]) -> Iterator[ReaderFinding]:
    """Give a note for each example that is refused; one without a turn is about all examples of the record."""
    has_candidates = split != "train"
    if isinstance(talk, ResponseTalk):
        yield from _responses(talk, lists, first, has_candidates=has_candidates)
    elif isinstance(talk, GroundingTalk):
        for turn in _turns_of_main_author(talk):
            if ("gpp_gold", turn) in lists:
                yield from _grounding(turn, lists, first, has_candidates=has_candidates)
    else:
        yield from _speaker(len(talk.messages) - 1, lists, first, has_candidates=has_candidates)
    if has_candidates:
        yield from _repeats(kind, talk, lists, first)


def _responses(talk: ResponseTalk, lists: Lists, first: set[int], *, has_candidates: bool) -> Iterator[ReaderFinding]:
    turns = _turns_of_main_author(talk)
    wrong = _wrong_size(lists.get(("candidate", None)), RESPONSE)
    if turns and wrong:
        yield _refused("MP-05", RESPONSE, f"candidate_personas {wrong}", "/candidate_personas", None)
    elif has_candidates:
        lists_of_turns = talk.nrp_candidate_responses or [None] * len(talk.messages)
        for turn in turns:
            texts, place = lists_of_turns[turn], f"/{RESPONSE.candidates}/{turn}"
            if not texts:
                yield _refused("MP-03", RESPONSE, "no candidates", place, turn)
            elif turn not in first:
                yield _refused("MP-03", RESPONSE, "the first candidate is not the message", place, turn)
            elif len(texts) != CANDIDATES:
                yield _refused("MP-04", RESPONSE, f"{len(texts)} candidates, not {CANDIDATES}", place, turn)


def _grounding(turn: int, lists: Lists, first: set[int], *, has_candidates: bool) -> Iterator[ReaderFinding]:
    wrong = _wrong_size(lists.get(("gpp_remainder", turn)), GROUNDING)
    candidates, place = lists.get(("gpp_persona", turn)), f"/{GROUNDING.candidates}/{turn}"
    if wrong:
        yield _refused("MP-05", GROUNDING, f"gpp_candidate_personas {wrong}", f"/gpp_candidate_personas/{turn}", turn)
    elif has_candidates and candidates is None:
        yield _refused("MP-03", GROUNDING, "no candidates", place, turn)
    elif has_candidates and candidates and turn not in first:
        yield _refused("MP-03", GROUNDING, "the first candidate is not the gold persona", place, turn)
    elif has_candidates and candidates:
        yield from _too_few(GROUNDING, len(candidates.uses), place, turn)


def _speaker(last: int, lists: Lists, first: set[int], *, has_candidates: bool) -> Iterator[ReaderFinding]:
    wrong = _wrong_size(lists.get(("si_main", None)), SPEAKER)
    candidates, place = lists.get(("si_author", last)), f"/{SPEAKER.candidates}"
    if wrong:
        main = "si_main_author_candidate_personas"
        yield _refused("MP-05", SPEAKER, f"{main} {wrong}", f"/{main}", None)
    elif has_candidates and candidates is None:
        yield _refused("MP-03", SPEAKER, "no candidates", place, None)
    elif has_candidates and candidates and not first:
        yield _refused("MP-03", SPEAKER, "the first author's titles are not the main author's", place, None)
    elif has_candidates and candidates:
        sizes = candidates.elements.sizes
        odd = [k for k, size in enumerate(sizes[:CANDIDATES]) if not 1 <= size <= SPEAKER.limit]
        if odd and len(sizes) >= CANDIDATES:
            detail = f"{len(odd)} candidate authors have a list of other than 1 to {SPEAKER.limit} elements"
            yield _refused("MP-05", SPEAKER, detail, f"{place}/{odd[0]}", None)
        yield from _too_few(SPEAKER, len(sizes), place, None)


def _too_few(kind: Kind, count: int, place: str, turn: int | None) -> Iterator[ReaderFinding]:
    if count < CANDIDATES:
        yield _refused("MP-04", kind, f"{count} candidates, fewer than {CANDIDATES}", place, turn)
    elif count > CANDIDATES:
        detail = f"{count} candidates: the first {CANDIDATES} are taken"
        yield ReaderFinding("MP-04", detail, pointer=place, turn_index=turn, severity="warn")


def _repeats(kind: Kind, talk: Talk, lists: Lists, first: set[int]) -> Iterator[ReaderFinding]:
    turns = sorted(turn for turn in first if _is_repeated(kind, talk, lists, turn))
    if turns:
        detail = f"the answer stands among its candidates again, at turn {', '.join(map(str, turns))}"
        yield ReaderFinding("MP-09", detail, pointer=f"/{kind.candidates}", turn_index=turns[0])


def _is_repeated(kind: Kind, talk: Talk, lists: Lists, turn: int) -> bool:
    """Whether another candidate has the gold one's text; lengths are compared first, words where these agree."""
    if isinstance(talk, ResponseTalk):
        texts = (talk.nrp_candidate_responses or [])[turn] or []
        return texts.count(texts[0]) > 1
    one = lists[kind.lists[-1].set_name, turn]
    sizes = (one.elements.sizes or [1] * len(one.uses))[:CANDIDATES]
    ends = list(accumulate(sizes, initial=0))
    characters = list(accumulate((use.title_length for use in one.uses), initial=0))
    lengths = [characters[end] - characters[start] + end - start for start, end in pairwise(ends)]
    same = [k for k, length in enumerate(lengths) if length == lengths[0] and sizes[k]]
    gold, *others = [_joined(one.elements.raws[ends[k] : ends[k + 1]]) for k in same] if len(same) > 1 else [""]
    return gold in others


def _turns_of_main_author(talk: Talk) -> list[int]:
    return [turn for turn, author in enumerate(talk.authors) if author == talk.main_author]


def _wrong_size(one: UsedList | None, kind: Kind) -> str:
    size = len(one.uses) if one else 0
    return "" if 1 <= size <= kind.limit else f"has {size} elements, not 1 to {kind.limit}"


def _refused(rule: str, kind: Kind, detail: str, place: str, turn: int | None) -> ReaderFinding:
    return ReaderFinding(rule, detail, pointer=place, task=kind.task, turn_index=turn)


def _joined(raws: list[Raw]) -> str:
    return " ".join(decode.decoder(_Title).decode(raw).title for raw in raws)
