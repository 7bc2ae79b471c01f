"""The published format of dialogues and persona elements; optional fields are UNSET where they are absent."""

from typing import TypeAlias

from msgspec import UNSET, Raw, Struct, UnsetType

CORPUS = "mpchat"

SPLITS = {"train": "train", "val": "validation", "test": "test"}

Text: TypeAlias = str | UnsetType | None
Number: TypeAlias = int | float | str | UnsetType | None
Elements: TypeAlias = list[Raw] | UnsetType | None
PerTurn: TypeAlias = list[list[Raw] | None] | UnsetType | None


class SourceDialogue(Struct, forbid_unknown_fields=True):
    """What the three task files have in common of a dialogue; its persona elements stay raw."""

    main_author: str
    authors: list[str]
    messages: list[str]
    has_image: bool
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
