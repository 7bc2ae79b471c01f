"""Which field of an outcome has a value of another type: looked for where an outcome could not be taken."""

import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from talkhouse.ingest.contract.faults import ContractBroken


def check_fields(outcome: Any) -> None:
    """Raise ContractBroken for the first field of an outcome, or of what is in it, with a value of another type."""
    kind = type(outcome).__name__
    for name, hint in get_type_hints(type(outcome)).items():
        value = getattr(outcome, name)
        (inner,) = get_args(hint) if get_origin(hint) is list else (object,)
        wrong = [value] if not isinstance(value, _classes(hint)) else []
        if isinstance(value, list):
            wrong += [item for item in value if not isinstance(item, _classes(inner))]
        for item in wrong[:1]:
            raise ContractBroken(
                f"yields {kind} with a wrong {name}",
                expected=f"{kind}.{name}: {_name(hint)}",
                found=f"{item!r:.100} ({type(item).__name__})",
            )
        for item in value if isinstance(value, list) else [value]:
            if is_dataclass(item) and type(item).__module__ == type(outcome).__module__:
                check_fields(item)


def _classes(hint: Any) -> tuple[type, ...]:
    """Return the classes that a type hint allows."""
    return tuple(_each(hint))


def _each(hint: Any) -> Iterator[type]:
    if get_origin(hint) in (Union, UnionType):
        for option in get_args(hint):
            yield from _each(option)
    elif get_origin(hint) is Literal:
        yield str
    else:
        yield get_origin(hint) or hint


def _name(hint: Any) -> str:
    is_class = isinstance(hint, type) and not get_args(hint)
    return str(hint.__name__) if is_class else re.sub(r"\b(\w+\.)+", "", str(hint))
