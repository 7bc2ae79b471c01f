"""What users of Python name and choose: the warehouse, and options of methods that are those of commands."""

import os
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from talkhouse.export.formats import ChatForm, PersonaPlace
from talkhouse.schema.errors import UsageError, closest
from talkhouse.settings import RELEASE_PREFIX, database

if TYPE_CHECKING:
    import duckdb

    from talkhouse.packages.chat import ChatOptions
    from talkhouse.schema.guard import Settings

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


def connect(path: str | Path | None, *, settings: "Settings", unsafe: bool = False) -> "duckdb.DuckDBPyConnection":
    """Open what a user names, read-only, in an instance of DuckDB of its own; raises what ``open_warehouse`` does."""
    from talkhouse import migrations
    from talkhouse.schema.warehouse import open_warehouse

    return open_warehouse(database(to_read(path)), migrations.head(), settings=settings, unsafe=unsafe)


def to_read(named: str | Path | None) -> Path | None:
    """Return the file of a warehouse that is to be read, None where nobody named one.

    Of a release, named here or by ``$TALKHOUSE_DB``, it is the file that it is checked out to.
    """
    if not is_release(named):
        return None if named is None else Path(named)
    from talkhouse.releases.checkout import resolve

    return resolve(_name(named).removeprefix(RELEASE_PREFIX))


def to_write(named: str | Path | None) -> Path | None:
    """Return the file of a warehouse that is to be written, None where nobody named one; UsageError for a release."""
    if is_release(named):
        raise UsageError(
            "a release never changes",
            expected="a warehouse file: --db FILE",
            next_step="make one of the release with: talkhouse release checkout NAME --output FILE",
        )
    return None if named is None else Path(named)


def is_release(named: str | Path | None) -> bool:
    """Whether a release is named, here or by ``$TALKHOUSE_DB``."""
    return _name(named).startswith(RELEASE_PREFIX)


def _name(named: str | Path | None) -> str:
    return str(named or os.environ.get("TALKHOUSE_DB") or "")
