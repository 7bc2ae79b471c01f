"""The published files: dialogues with frames of services, and what a service's names mean."""

from msgspec import UNSET, Raw, Struct, UnsetType

SPLITS = {"train": "train", "dev": "validation", "test": "test"}  # the publisher's name -> the standard one


class Slot(Struct, forbid_unknown_fields=True):
    """A span that is the value of a slot, in code points, its end exclusive."""

    slot: str
    start: int
    exclusive_end: int


class Action(Struct, forbid_unknown_fields=True):
    """What a turn does, with a slot and values; both may be empty."""

    act: str
    slot: str
    values: list[str]
    canonical_values: list[str]


class State(Struct, forbid_unknown_fields=True):
    """What the user wants so far."""

    active_intent: str
    requested_slots: list[str]
    slot_values: dict[str, list[str]]


class Frame(Struct, forbid_unknown_fields=True):
    """What a turn says of one service."""

    service: str
    slots: list[Slot]
    actions: list[Action]
    state: State | UnsetType = UNSET
    service_call: Raw | UnsetType = UNSET
    service_results: Raw | UnsetType = UNSET


class Utterance(Struct, forbid_unknown_fields=True):
    """What somebody says."""

    speaker: str
    utterance: str
    frames: list[Frame]


class Talk(Struct, forbid_unknown_fields=True):
    """An item of ``<split>/dialogues_<number>.json``."""

    dialogue_id: str
    services: list[str]
    turns: list[Utterance]


class Named(Struct, forbid_unknown_fields=True):
    """A slot or an intent of a service, with what it means; a schema has more fields, which stay as they are."""

    name: str
    description: str


class Service(Struct, forbid_unknown_fields=True):
    """An item of ``<split>/schema.json``."""

    service_name: str
    slots: list[Named]
    intents: list[Named]
