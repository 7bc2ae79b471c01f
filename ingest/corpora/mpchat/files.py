"""The files by name: three task files, with their lists of persona elements, and two files of image addresses."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from talkhouse.ingest.corpora.mpchat.format import GroundingDialogue, ResponseDialogue, SourceDialogue, SpeakerDialogue


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
