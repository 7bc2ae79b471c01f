"""Members of a JSON object: each with an SQL expression, and with the type that ConvoKit's index says it has."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from talkhouse.schema.sql import quoted

Kind = Literal["int", "float", "str", "bool", "list", "dict"]
"""A type of Python, as ``index.json`` names it."""


class Member(NamedTuple):
    """A key, its value in SQL, and the value's type where it is not null."""

    name: str
    expression: str
    kind: Kind


def struct(members: Iterable[Member | tuple[str, str]]) -> str:
    """Return an SQL struct of members, or of names and expressions."""
    return f"struct_pack({', '.join(f'{quoted(member[0])} := {member[1]}' for member in members)})"


def index(members: Iterable[Member]) -> dict[str, list[str]]:
    """Return the types of metadata as ConvoKit writes them; what is not in its index is dropped by its ``dump``."""
    return {member.name: [f"<class '{member.kind}'>"] for member in members}


def with_meta(members: Sequence[Member]) -> str:
    """Return what a speaker or conversation is in its file, as columns: the metadata, and no vectors."""
    return f"{struct(members)} as meta, []::varchar[] as vectors"
