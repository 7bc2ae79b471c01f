"""The packages that Talkhouse and its extras need: what is installed, its licences, and what brings a missing one."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from talkhouse.schema.errors import UsageError

_TALKHOUSE = "talkhouse"

_LONGEST = 100
"""Characters of the name of a licence; what is longer, or has several lines, is the text of one."""

_LICENCE = "License :: "

NOT_STATED = "not stated"


@dataclass(frozen=True)
class Package:
    """A package that Talkhouse or an extra needs on this machine."""

    name: str
    extras: tuple[str, ...]
    """The extras of Talkhouse that it comes with; none for what always comes."""
    version: str | None
    """None if it is not installed; its requirements are then unknown too."""
    licence: str | None
    """As it declares it: an SPDX expression, or else a name."""


def packages() -> list[Package]:
    """Return every package that Talkhouse needs here, first what always comes, then by extra; each by its name."""
    known = _extras(_TALKHOUSE)
    always = _needed(())
    with_extra = {extra: _needed([extra]) - always for extra in known}
    wanted = {
        name: tuple(extra for extra in known if name in with_extra[extra]) for name in set().union(*with_extra.values())
    }
    found = [_package(name, wanted.get(name, ())) for name in always.union(wanted)]
    return sorted(found, key=lambda item: (item.extras, item.name))


def needs_extra(error: ModuleNotFoundError) -> UsageError | None:
    """Return the error of a missing module of an extra, or None for any other module, or a part of one."""
    module = canonicalize_name(error.name or "")
    found = [
        extra
        for extra in _extras(_TALKHOUSE)
        if any(
            name.startswith(module)
            for name, _ in {*_requirements(_TALKHOUSE, extra)} - {*_requirements(_TALKHOUSE, "")}
        )
    ]
    if not module or not found:
        return None
    step = " or ".join(f"pip install 'talkhouse[{extra}]'" for extra in found)
    return UsageError(f"this needs {error.name}, which is not installed", next_step=f"type: {step}")


def _extras(name: str) -> list[str]:
    return distribution(name).metadata.get_all("Provides-Extra") or []


def _needed(extras: Collection[str]) -> set[str]:
    """Return the names of all packages that Talkhouse with some extras needs here, and those that these need."""
    found = {(_TALKHOUSE, extra) for extra in ("", *extras)}
    left = list(found)
    while left:
        for new in set(_requirements(*left.pop())) - found:
            found.add(new)
            left.append(new)
    return {name for name, _ in found} - {_TALKHOUSE}


def _requirements(name: str, extra: str) -> Iterator[tuple[str, str]]:
    """Yield what a package needs with an extra, or without any (an empty one): names, each with an extra of its own."""
    try:
        declared = distribution(name).requires or []
    except PackageNotFoundError:
        return
    for text in declared:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            for own in ("", *requirement.extras):
                yield canonicalize_name(requirement.name), own


def _package(name: str, extras: tuple[str, ...]) -> Package:
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return Package(name, extras, None, None)
    return Package(name, extras, found.version, _licence(found))


def _licence(found: Distribution) -> str:
    """Return the licence in the metadata; older packages have its name, or whole text, in another field."""
    fields = found.metadata.json
    if "license_expression" in fields:
        return str(fields["license_expression"])
    stated = str(fields.get("license", "")).strip()
    if stated and len(stated) <= _LONGEST and "\n" not in stated:
        return stated
    names = [str(name).rpartition(" :: ")[2] for name in fields.get("classifier", ()) if str(name).startswith(_LICENCE)]
    return ", ".join(names) or NOT_STATED
