"""What is unusual about a dialogue that is loaded all the same: MP-08, MP-09 and MP-10, one note per kind."""

from collections import defaultdict
from collections.abc import Iterator

from ingest.corpora.mpchat.elements import Lists
from ingest.corpora.mpchat.files import ElementList, Kind, Nesting
from ingest.corpora.mpchat.format import Talk
from ingest.corpora.mpchat.odd_elements import listed
from ingest.outcomes import ReaderFinding

_OF_MAIN_AUTHOR = frozenset({"candidate", "gpp_gold", "gpp_remainder", "si_main"})


def talk_oddities(kind: Kind, talk: Talk, split: str, lists: list[ElementList]) -> Iterator[ReaderFinding]:
    """Look at one dialogue: MP-08 and MP-10."""
    if talk.main_author not in talk.authors:
        yield ReaderFinding("MP-08", f"{talk.main_author}, the main author, says nothing", pointer="/main_author")
    filled: defaultdict[str, list[int]] = defaultdict(list)
    for one in lists:
        if one.field.nesting in (Nesting.PER_TURN, Nesting.ONE_PER_TURN) and one.turn_index is not None:
            filled[one.field.name].append(one.turn_index)
    for turn, texts in enumerate(getattr(talk, "nrp_candidate_responses", None) or ()):
        if texts:
            filled[kind.candidates].append(turn)
    for name, turns in filled.items():
        stray = [turn for turn in turns if talk.authors[turn] != talk.main_author]
        if stray:
            detail = f"{name} is filled on turns of others: {listed(stray)}"
            yield ReaderFinding("MP-08", detail, pointer=f"/{name}/{stray[0]}", turn_index=stray[0])
    value = getattr(talk, kind.candidates) or []
    has_candidates = any(value) if split == "train" else bool(value)
    if has_candidates == (split == "train"):
        detail = f"a {split} dialogue {'with' if has_candidates else 'without'} {kind.candidates}"
        yield ReaderFinding("MP-10", detail, pointer=f"/{kind.candidates}" if has_candidates else "")


def missing_personas(talk: Talk, lists: Lists) -> Iterator[ReaderFinding]:
    """MP-09: personas of the main author that a task offers and all_personas does not have."""
    if not isinstance(talk.all_personas, list):
        return
    known = set(lists["all", None].native_ids) if ("all", None) in lists else set()
    for (name, turn), one in lists.items():
        missing = [one_id for one_id in one.native_ids if one_id not in known] if name in _OF_MAIN_AUTHOR else []
        if missing:
            detail = f"{one.elements.field.name} has personas that all_personas has not: {listed(missing)}"
            yield ReaderFinding("MP-09", detail, pointer=one.elements.pointer(0), turn_index=turn)
