"""The published files, dialogues and persona elements with workers' labels; optional fields are UNSET where absent."""

import dataclasses
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from itertools import accumulate
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from talkhouse.ingest import decode
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.rows import Annotation

CORPUS = "mpchat"

SPLITS = {"train": "train", "val": "validation", "test": "test"}

Text: TypeAlias = str | UnsetType | None
Number: TypeAlias = int | float | str | UnsetType | None
Elements: TypeAlias = list[Raw] | UnsetType | None
PerTurn: TypeAlias = list[list[Raw] | None] | UnsetType | None


class SourceDialogue(Struct, forbid_unknown_fields=True):
    """What the three task files have in common of a dialogue; its persona elements stay raw."""

    main_author: str
    authors: list[str | None]
    messages: list[str]
    has_image: bool | Literal[0, 1] | None
    subreddit: Text = UNSET
    message_ids: list[str] | UnsetType | None = UNSET
    created_utcs: list[int | float | str | None] | UnsetType | None = UNSET
    direct_url: Text = UNSET
    file_name: Text = UNSET
    all_personas: Elements = UNSET


class ResponseDialogue(SourceDialogue, forbid_unknown_fields=True):
    """A dialogue of mpchat_nrp.json."""

    candidate_personas: Elements = UNSET
    grounded_personas: PerTurn = UNSET
    ungrounded_personas: PerTurn = UNSET
    nrp_candidate_responses: list[list[str] | None] | UnsetType | None = UNSET


class GroundingDialogue(SourceDialogue, forbid_unknown_fields=True):
    """A dialogue of mpchat_gpp.json; a turn without a gold persona has null."""

    gpp_grounded_persona: Elements = UNSET
    gpp_candidate_personas: PerTurn = UNSET
    gpp_candidate_authors_candidate_personas: PerTurn = UNSET


class SpeakerDialogue(SourceDialogue, forbid_unknown_fields=True):
    """A dialogue of mpchat_si.json; the candidates are a list for each candidate author."""

    si_main_author_candidate_personas: Elements = UNSET
    si_candidate_authors_candidate_personas: PerTurn = UNSET


class PersonaElement(Struct, forbid_unknown_fields=True):
    """A persona element; it has the two labels only where workers compared it with a message."""

    id: str
    title: str
    file_name: str
    subreddit: Text = UNSET
    url: Text = UNSET
    score: Number = UNSET
    author: Text = UNSET
    permalink: Text = UNSET
    direct_url: Text = UNSET
    created_utc: Number = UNSET
    created_utcs: Number = UNSET
    label_overall: Text = UNSET
    label_per_worker: list[tuple[str | int | None, int | float | bool | None]] | UnsetType | None = UNSET


class Nesting(Enum):
    """How a list of persona elements nests."""

    FLAT = auto()
    PER_TURN = auto()
    ONE_PER_TURN = auto()
    PER_AUTHOR = auto()


class ListField(NamedTuple):
    """A field of persona elements: the set that its items are in, and its nesting."""

    name: str
    set_name: str
    nesting: Nesting
    is_candidates: bool = False
    """Whether it is in main.candidates, and in val and test only."""


@dataclass(frozen=True)
class TaskFile:
    """One of the three task files."""

    subset: str
    task: str
    dialogue: type[SourceDialogue]
    lists: tuple[ListField, ...]
    candidates: str
    """The field that only val and test have."""
    limit: int
    """Persona elements in a list, at most (the authors' --max_num_imgs)."""


ALL = ListField("all_personas", "all", Nesting.FLAT)
RESPONSE = TaskFile(
    "nrp",
    "next_response_prediction",
    ResponseDialogue,
    (
        ALL,
        ListField("candidate_personas", "candidate", Nesting.FLAT),
        ListField("grounded_personas", "grounded", Nesting.PER_TURN),
        ListField("ungrounded_personas", "ungrounded", Nesting.PER_TURN),
    ),
    "nrp_candidate_responses",
    5,
)
GROUNDING = TaskFile(
    "gpp",
    "grounding_persona_prediction",
    GroundingDialogue,
    (
        ALL,
        ListField("gpp_grounded_persona", "gpp_gold", Nesting.ONE_PER_TURN),
        ListField("gpp_candidate_personas", "gpp_remainder", Nesting.PER_TURN),
        ListField("gpp_candidate_authors_candidate_personas", "gpp_persona", Nesting.PER_TURN, is_candidates=True),
    ),
    "gpp_candidate_authors_candidate_personas",
    4,
)
SPEAKER = TaskFile(
    "si",
    "speaker_identification",
    SpeakerDialogue,
    (
        ALL,
        ListField("si_main_author_candidate_personas", "si_main", Nesting.FLAT),
        ListField("si_candidate_authors_candidate_personas", "si_author", Nesting.PER_AUTHOR, is_candidates=True),
    ),
    "si_candidate_authors_candidate_personas",
    5,
)
TASK_FILES = {"mpchat_nrp.json": RESPONSE, "mpchat_gpp.json": GROUNDING, "mpchat_si.json": SPEAKER}
RESPONSES = "nrp_response"
"""The candidate set of texts; the sets of persona elements are in the files' lists."""

IMAGE_FILES = {"dialog_image_urls.json": "dialogue", "persona_image_urls.json": "persona"}
"""The files of image addresses, each with the kind of its images."""


ENTAILMENT = f"{CORPUS}.entailment"
OVERALL = f"{CORPUS}.entailment_overall"


class WorkerLabel(NamedTuple):
    """A worker's vote, or what all votes come to, by the columns of main.annotations."""

    scheme: str
    annotator_index: int
    annotator_id: str | None
    label: str
    value: float | None = None
    extra: str | None = None


def labels_of(element: PersonaElement) -> tuple[WorkerLabel, ...]:
    """List the votes on an element, and the label that came of them."""
    return tuple(_labels(element))


def _labels(element: PersonaElement) -> Iterator[WorkerLabel]:
    votes = element.label_per_worker
    for index, (worker, vote) in enumerate(votes if isinstance(votes, list) else ()):
        name, extra = (worker, None) if isinstance(worker, str) else (None, decode.dump({"worker": worker}))
        yield WorkerLabel(ENTAILMENT, index, name, msgspec.json.encode(vote).decode(), _number(vote), extra)
    if isinstance(element.label_overall, str):
        yield WorkerLabel(OVERALL, 0, None, element.label_overall)


def _number(vote: float | bool | None) -> float | None:
    """Return a vote as a number; None for one that is too great for a double: its label has it all the same."""
    try:
        return None if vote is None else float(vote)
    except OverflowError:
        return None


def label_fields(annotations: Iterable[Annotation]) -> dict[str, Any]:
    """Return the two fields of an element as they were published."""
    votes, overall = [], None
    for row in annotations:
        if row.scheme == OVERALL:
            overall = row.label
        else:
            worker = row.annotator_id if row.extra is None else msgspec.json.decode(row.extra)["worker"]
            votes.append([worker, Raw((row.label or "null").encode())])
    return {"label_overall": overall, "label_per_worker": votes}


class Use(NamedTuple):
    """A persona where a list names it, and what belongs to this mention of it alone."""

    persona_id: str
    native_id: str
    extra: str | None
    """The order of its keys where it is not the persona's, and labels that are null or empty."""
    title_length: int
    labels: tuple[WorkerLabel, ...]


@dataclass
class PersonaList:
    """One list of persona elements; ``sizes`` are those of the authors' lists where it is a list of lists."""

    field: ListField
    turn_index: int | None
    raws: list[Raw]
    sizes: list[int] = dataclasses.field(default_factory=list)
    fingerprints: list[bytes] = dataclasses.field(default_factory=list)
    """A hash for each element, once they are decoded."""
    uses: list[Use] = dataclasses.field(default_factory=list)
    """One for each element, once all have their personas."""

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
                position = bisect_right(self._ends, index)
                before = self._ends[position - 1] if position else 0
                return f"/{self.field.name}/{position}/{index - before}"

    @cached_property
    def _ends(self) -> list[int]:
        """Where the lists of the authors end among all elements."""
        return list(accumulate(self.sizes))


Lists: TypeAlias = Mapping[tuple[str, int | None], PersonaList]
"""The lists of a dialogue that are not empty, by set and turn."""


def check_unknown(pointer: str, piece: bytes) -> None:
    """Raise BadRecord where a field that no documentation names could not be kept: TH-01, TH-02 or TH-04."""
    try:
        decode.check_depth(piece)
        piece.decode()
        decode.decoder(Raw).decode(piece)  # a number beyond any double is no defect
    except BadRecord as bad:
        raise BadRecord(bad.rule, bad.detail, pointer) from bad
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        problem = decode.json_problem(piece, error)
        raise BadRecord(problem.rule, problem.detail, pointer + problem.pointer) from error
