"""What a declaration may say: each value that is mistyped is named, with the nearest that is known."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from datetime import date
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from talkhouse.ingest.common_rules import Rule, shared_rules
from talkhouse.ingest.corpus import Author, Corpus, Exempt, LicenceTerms, Reference, Release, Scheme, Source
from talkhouse.ingest.files.archives import points_outside
from talkhouse.schema.contents import ID, RESERVED
from talkhouse.schema.errors import closest

STANDARD_SPLITS = ("train", "validation", "test")

LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]+)*")
ADDRESS = re.compile(r"https?://\S+")
_RULE = re.compile(r"[A-Z][A-Z0-9]*-\d+")
_COLUMN = re.compile(r"[a-z]\w*(\.[a-z]\w*){2,3}")
_MEMBER = re.compile(r"\w+(\.\w+)*")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SHA256 = re.compile(r"[0-9a-f]{64}")

_NEVER_EMPTY: Mapping[type, tuple[str, ...]] = {
    Author: ("family",),
    Exempt: ("check", "scope", "reason"),
    LicenceTerms: ("part",),
    Reference: ("title",),
    Release: ("name", "title", "description"),
    Source: ("path", "url"),
}
_KEYS = {"licence_terms": "part", "sources": "path", "releases": "name", "schemes": "name", "rules": "id"}
"""Fields of a corpus that are lists, with what no two of their items may share."""


def problems(corpus: Corpus) -> Iterator[str]:
    """Name what is wrong with a declaration, the first thing first."""
    if problem := id_problem(corpus.id):
        yield problem
    else:
        yield from list(_mistyped(corpus, "")) or _misstated(corpus)


def id_problem(corpus_id: Any) -> str | None:
    """Return the form of an id, if this is not a valid one."""
    if isinstance(corpus_id, str) and corpus_id not in RESERVED and ID.fullmatch(corpus_id):
        return None
    return "an id is lower case letters, digits and '_', and none of: " + ", ".join(RESERVED)


def _mistyped(thing: Any, of: str) -> Iterator[str]:
    """Name the fields that have a value of another type, or an empty one; ``of``: what has them, in words."""
    kind: Any = type(thing)
    for name, hint in _hints(kind).items():
        value = getattr(thing, name)
        if not fits(value, hint):
            yield f"{name}{of} is {_in_words(hint, value)}, not {value!r:.100}"
        elif value == "" and name in _NEVER_EMPTY.get(kind, ()):
            yield f"{name}{of} is empty"
        elif is_dataclass(value):
            yield from _mistyped(value, f" of the {name}")
        for item in value if isinstance(value, tuple) else ():
            if is_dataclass(item):
                words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(item).__name__).lower()
                yield from _mistyped(item, f" of the {words} {next(iter(vars(item).values()))!r:.100}")


_hints = cache(get_type_hints)
"""A class -> the types of its fields; rules and sources are many."""


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of the type of a field; any is of a protocol, which is not looked into."""
    if type(value) is hint:
        return True
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, option) for option in inner)
    if origin is Literal:
        return value in inner
    if origin is Callable:
        return callable(value)
    if origin in (tuple, list):
        return isinstance(value, origin) and all(fits(item, inner[0]) for item in value)
    if origin is Mapping:
        is_mapping = isinstance(value, Mapping)
        return is_mapping and all(fits(key, inner[0]) and fits(item, inner[1]) for key, item in value.items())
    if hint in (bool, int):
        return type(value) is hint
    return hint is Any or getattr(hint, "_is_protocol", False) or isinstance(value, hint)


_IN_WORDS = {str: "a text", int: "a whole number", bool: "True or False", NoneType: "None"}


def _in_words(hint: Any, value: Any) -> str:
    """Write the type of a field; of words, those that are closest to a value."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(_in_words(option, value) for option in inner)
    if origin is Literal:
        return f"one of: {', '.join(closest(str(value), inner))}"
    if origin is Callable:
        return "a function"
    if origin is tuple:
        of = "texts" if inner[0] is str else inner[0].__name__
        return f"a tuple of {of}, with a comma behind a single one"
    return "a mapping of texts" if origin is Mapping else _IN_WORDS.get(hint) or f"a {hint.__name__}"


def _misstated(corpus: Corpus) -> Iterator[str]:
    """Name what is wrong with values of the right types."""
    if corpus.version < 1:
        yield f"version is a whole number from 1, not {corpus.version!r}"
    if corpus.year is not None and not 1900 <= corpus.year <= 9999:
        yield f"year is a year of four digits, not {corpus.year!r}"
    yield from _of_address("homepage", corpus.homepage)
    yield from _of_address("licence_url", corpus.licence_url)
    yield from _of_address("url of the reference", corpus.reference.url if corpus.reference else None)
    yield from _unlike(
        corpus.languages, LANGUAGE.fullmatch, "languages has {!r}, which is no code of ISO 639, such as 'en'"
    )
    members = corpus.people.members if corpus.people else ()
    yield from _unlike(
        members, _MEMBER.fullmatch, "members of the people has {!r}, which is no name such as 'carried.workers'"
    )
    for name, standard in corpus.splits.items():
        if not name:
            yield "splits has an empty name"
        if standard is not None:
            yield from _unknown(f"splits has the standard name {standard!r}, of {name!r}", standard, STANDARD_SPLITS)
    for common in corpus.common_rules:
        yield from _unknown(f"common_rules has {common!r}", common, _common_rules())
    for name, key in _KEYS.items():
        keys = [getattr(item, key) for item in getattr(corpus, name)]
        yield from (f"{name} has {value!r} twice" for index, value in enumerate(keys) if value in keys[:index])
    for terms in corpus.licence_terms:
        yield from _of_terms(terms)
    for source in corpus.sources:
        yield from _of_source(source)
    for scheme in corpus.schemes:
        yield from _of_scheme(corpus.id, scheme)
    for rule in corpus.rules:
        yield from _of_rule(rule)


def _of_terms(terms: LicenceTerms) -> Iterator[str]:
    of = f"the licence terms {terms.part!r}"
    if terms.spdx is not None and not _is_licence(terms.spdx):
        yield f"{of} have the spdx {terms.spdx!r}, which is no expression of SPDX identifiers, such as 'CC-BY-4.0'"
    expected = "schema.view.column or schema.view.column.member"
    yield from _unlike(terms.columns, _COLUMN.fullmatch, f"{of} have the column {{!r}}, not {expected}")
    for day in (terms.said_from, terms.said_before):
        if day is not None and not _is_day(day):
            yield f"{of} have a day such as '2011-04-08', not {day!r}"
    yield from _of_address(f"licence_url of {of}", terms.licence_url)


def _is_day(text: str) -> bool:
    try:
        return _DAY.fullmatch(text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _is_licence(expression: str) -> bool:
    try:
        return bool(canonicalize_license_expression(expression))
    except InvalidLicenseExpression:
        return False


def _of_source(source: Source) -> Iterator[str]:
    of = f"of the source {source.path!r}"
    if points_outside(source.path):
        yield f"path {of} leads outside"
    yield from _of_address(f"url {of}", source.url)
    if source.sha256 is not None and not _SHA256.fullmatch(source.sha256):
        yield f"sha256 {of} is not 64 lower case hex digits: {source.sha256!r}"
    if source.size is not None and source.size < 1:
        yield f"size {of} is a number of bytes from 1, not {source.size!r}"


def _of_scheme(corpus_id: str, scheme: Scheme) -> Iterator[str]:
    if not scheme.name.startswith(f"{corpus_id}."):
        yield f"the scheme {scheme.name!r} must begin with '{corpus_id}.'"
    elif not ID.fullmatch(scheme.name.partition(".")[2]):
        yield f"the scheme {scheme.name!r} is not '{corpus_id}.' and lower case letters, digits and '_'"


def _of_rule(rule: Rule) -> Iterator[str]:
    if not _RULE.fullmatch(rule.id):
        yield f"the rule {rule.id!r} is not capital letters, '-' and a number, such as 'TT-01'"
    elif rule.id in _common_rules():
        yield f"the rule {rule.id!r} is one of the common rules"


def _common_rules() -> list[str]:
    return [rule.id for rule in shared_rules()]


def _of_address(name: str, address: str | None) -> Iterator[str]:
    if address and not ADDRESS.fullmatch(address):
        yield f"{name} is an address that begins with https://, not {address!r}"


def _unlike(texts: Iterable[str], matches: Callable[[str], object], problem: str) -> Iterator[str]:
    """Name the texts that do not match."""
    yield from (problem.format(text) for text in texts if not matches(text))


def _unknown(problem: str, name: str, known: Iterable[str]) -> Iterator[str]:
    """Name what is not known, and the nearest that is."""
    if name not in (names := list(known)):
        yield f"{problem}; one of: {', '.join(closest(name, names))}"
