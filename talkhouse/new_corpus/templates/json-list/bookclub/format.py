"""The published files: what is in a talk."""

from typing import Literal

from msgspec import Struct

SPLITS = {"train": "train", "test": "test"}  # the publisher's name -> the standard one
MENTIONED = {"book": "The title of a book.", "part": "A part of a book."}


class Mention(Struct, forbid_unknown_fields=True):
    """A span of an utterance, in code points, its end exclusive."""

    what: Literal["book", "part"]
    start: int
    end: int


class Utterance(Struct, forbid_unknown_fields=True):
    """What somebody says, its tags, and what it mentions."""

    by: str
    said: str
    tags: list[str]
    mentions: list[Mention]


class Talk(Struct, forbid_unknown_fields=True):
    """An item of ``<split>.json``: who takes which part, and what they say."""

    id: str
    book: str
    people: dict[str, str]
    talk: list[Utterance]
