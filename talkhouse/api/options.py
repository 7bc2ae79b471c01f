"""Options of methods that are those of commands: unknown names and values are refused."""

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from talkhouse.export.formats import ChatForm, PersonaPlace
from talkhouse.schema.errors import UsageError, closest

if TYPE_CHECKING:
    from talkhouse.packages.chat import ChatOptions

_Texts = TypeVar("_Texts", bound=StrEnum)


def member(kind: type[_Texts], name: str, what: str) -> _Texts:
    """Return the member of an enumeration that a user names; UsageError lists them."""
    known = [str(value) for value in kind]
    if name not in known:
        raise UsageError(f"no {what} '{name}'", expected=f"one of: {', '.join(closest(name, known))}")
    return kind(name)


def check_options(options: Collection[str], known: Collection[str], what: str) -> None:
    """Raise UsageError for the first option that is none of what is done."""
    for name in options:
        if name not in known:
            near = ", ".join(closest(name, known))
            raise UsageError(f"{what} has no option '{name}'", expected=f"one of: {near}")


def several(value: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return one text or several as several."""
    return () if value is None else (value,) if isinstance(value, str) else tuple(value)


def chat_options(
    as_: str | None = None, roles: Mapping[str, str] | str | None = None, persona: str | None = None
) -> "ChatOptions":
    """Return the form, roles and personas of chats, by the options of ``--for chat``; UsageError for others."""
    from talkhouse.packages.chat import ChatOptions, roles_of

    form = None if as_ is None else member(ChatForm, as_, "form of a chat")
    has_personas = persona is not None and bool(member(PersonaPlace, persona, "place of a persona"))
    return ChatOptions(form, roles_of(roles) if roles else {}, has_personas=has_personas)


def without_none(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given: one that is None was not."""
    return {name: value for name, value in options.items() if value is not None}
