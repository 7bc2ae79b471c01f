"""The lists of a dialogue: which field is which list in the tables, how it nests, and what rows do not say of it."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from itertools import chain, repeat
from typing import Any, NamedTuple

from msgspec import UNSET, Raw

from ingest.corpora.mpchat.format import GroundingTalk, ResponseTalk, SpeakerTalk, Talk
from ingest.decode import BadRecord

NULL = b"null"


class Nesting(Enum):
    """How a list of persona elements nests."""

    FLAT = auto()
    PER_TURN = auto()
    ONE_PER_TURN = auto()
    PER_AUTHOR = auto()


class ListField(NamedTuple):
    """A field of persona elements: the list that its items are in, and its nesting."""

    name: str
    set_name: str
    nesting: Nesting
    is_candidates: bool = False
    """Whether it is in main.candidates, and in val and test only."""


@dataclass(frozen=True)
class Kind:
    """One of the three task files."""

    subset: str
    task: str
    talk: type[Talk]
    lists: tuple[ListField, ...]
    candidates: str
    """The field that only val and test have."""
    limit: int
    """Persona elements in a list, at most (the authors' --max_num_imgs)."""


ALL = ListField("all_personas", "all", Nesting.FLAT)
RESPONSE = Kind(
    "nrp",
    "next_response_prediction",
    ResponseTalk,
    (
        ALL,
        ListField("candidate_personas", "candidate", Nesting.FLAT),
        ListField("grounded_personas", "grounded", Nesting.PER_TURN),
        ListField("ungrounded_personas", "ungrounded", Nesting.PER_TURN),
    ),
    "nrp_candidate_responses",
    5,
)
GROUNDING = Kind(
    "gpp",
    "grounding_persona_prediction",
    GroundingTalk,
    (
        ALL,
        ListField("gpp_grounded_persona", "gpp_gold", Nesting.ONE_PER_TURN),
        ListField("gpp_candidate_personas", "gpp_remainder", Nesting.PER_TURN),
        ListField("gpp_candidate_authors_candidate_personas", "gpp_persona", Nesting.PER_TURN, is_candidates=True),
    ),
    "gpp_candidate_authors_candidate_personas",
    4,
)
SPEAKER = Kind(
    "si",
    "speaker_identification",
    SpeakerTalk,
    (
        ALL,
        ListField("si_main_author_candidate_personas", "si_main", Nesting.FLAT),
        ListField("si_candidate_authors_candidate_personas", "si_author", Nesting.PER_AUTHOR, is_candidates=True),
    ),
    "si_candidate_authors_candidate_personas",
    5,
)
FILES = {"mpchat_nrp.json": RESPONSE, "mpchat_gpp.json": GROUNDING, "mpchat_si.json": SPEAKER}
RESPONSES = "nrp_response"
"""The candidate list of texts."""


@dataclass
class ElementList:
    """One list of persona elements; ``sizes`` are those of the authors' lists where it is a list of lists."""

    field: ListField
    turn_index: int | None
    raws: list[Raw]
    sizes: list[int] = dataclasses.field(default_factory=list)
    marks: list[bytes] = dataclasses.field(default_factory=list)
    """A hash for each element, once they are checked."""

    def pointer(self, index: int) -> str:
        """Point at the element with this number, inside the dialogue."""
        match self.field.nesting:
            case Nesting.FLAT:
                return f"/{self.field.name}/{index}"
            case Nesting.PER_TURN:
                return f"/{self.field.name}/{self.turn_index}/{index}"
            case Nesting.ONE_PER_TURN:
                return f"/{self.field.name}/{self.turn_index}"
            case Nesting.PER_AUTHOR:
                position, item = list(self.places())[index]
                return f"/{self.field.name}/{position}/{item}"

    def places(self) -> Iterator[tuple[int, int]]:
        """Give position and item of every element of a list of lists."""
        return chain.from_iterable(zip(repeat(k), range(size)) for k, size in enumerate(self.sizes))


def element_lists(kind: Kind, talk: Talk) -> Iterator[ElementList]:
    """Give every list of persona elements that the dialogue has, empty ones left out."""
    for one in kind.lists:
        value = getattr(talk, one.name) or []
        match one.nesting:
            case Nesting.FLAT if value:
                yield ElementList(one, None, value)
            case Nesting.PER_TURN:
                yield from (ElementList(one, turn, items) for turn, items in enumerate(value) if items)
            case Nesting.ONE_PER_TURN:
                yield from (ElementList(one, turn, [raw]) for turn, raw in enumerate(value) if bytes(raw) != NULL)
            case Nesting.PER_AUTHOR if value:
                sizes = [len(items or ()) for items in value]
                raws = list(chain.from_iterable(items or () for items in value))
                yield ElementList(one, len(talk.messages) - 1, raws, sizes)


def oddly_empty(kind: Kind, talk: Talk) -> dict[str, Any]:
    """Give, by pointer, what writing the lists back can't tell from rows: null and empty, where that is not usual.

    Usual is: no list is null, a turn without elements has [], a turn without a gold persona has null.
    """
    odd: dict[str, Any] = {}
    for name in (*_PLAIN, *(one.name for one in kind.lists), kind.candidates):
        value = getattr(talk, name, UNSET)
        if value is None:
            odd[f"/{name}"] = None
        elif name in (*_PER_TURN, kind.candidates) and value == []:
            odd[f"/{name}"] = []
        elif name in _PER_TURN:
            odd |= {f"/{name}/{turn}": None for turn, items in enumerate(value or ()) if items is None}
        elif name == SPEAKER.candidates:
            odd |= {f"/{name}/{author}": items for author, items in enumerate(value or ()) if not items}
    return odd


_PLAIN = ("message_ids", "created_utcs")
_PER_TURN = frozenset(
    {one.name for kind in FILES.values() for one in kind.lists if one.nesting is Nesting.PER_TURN}
    | {RESPONSE.candidates}
)
_ALIGNED = (*_PLAIN, *sorted(_PER_TURN), "gpp_grounded_persona")


def check_lengths(talk: Talk, split: str) -> None:
    """Raise BadRecord MP-02 where a list has not one item per message, MP-11 where there are none, MP-06 on no picture.

    An empty candidate list of a train dialogue is none at all.
    """
    turns = len(talk.messages)
    if not turns:
        raise BadRecord("MP-11", "no messages", "/messages")
    for name in ("authors", *_ALIGNED):
        value = getattr(talk, name, UNSET)
        if value is UNSET or value is None or (value == [] and split == "train" and name in _CANDIDATES):
            continue
        if len(value) != turns:
            raise BadRecord("MP-02", f"{len(value)} items for {turns} messages", f"/{name}")
    if talk.has_image and not isinstance(talk.file_name, str):
        raise BadRecord("MP-06", "has_image, and no file_name", "/file_name")


_CANDIDATES = frozenset(kind.candidates for kind in FILES.values())
