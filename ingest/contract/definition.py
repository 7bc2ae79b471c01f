"""What a declaration may say: each value that is mistyped is named, with the nearest that is known."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any, get_args, get_type_hints

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from talkhouse.ingest.common_rules import Rule, Severity, shared_rules
from talkhouse.ingest.corpus import (
    Author,
    Corpus,
    Datasheet,
    Exempt,
    LicenceTerms,
    People,
    Reference,
    Release,
    Scheme,
    Source,
)
from talkhouse.ingest.files.archives import points_outside
from talkhouse.schema.contents import ID, RESERVED
from talkhouse.schema.errors import closest

STANDARD_SPLITS = ("train", "validation", "test")

_RULE = re.compile(r"[A-Z][A-Z0-9]*-\d+")
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]+)*")
ADDRESS = re.compile(r"https?://\S+")
_COLUMN = re.compile(r"[a-z]\w*(\.[a-z]\w*){2,3}")
_MEMBER = re.compile(r"\w+(\.\w+)*")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_TEXTS = ("title", "description", "homepage", "licence", "terms", "citation", "files", "by_hand")
_TARGETS = get_args(get_type_hints(Scheme)["target"])
_KINDS, _SCALES = (
    tuple(name for option in get_args(get_type_hints(Scheme)[field]) for name in get_args(option))
    for field in ("kind", "scale")
)
_REFERENCES = get_args(get_type_hints(Reference)["kind"])
_SEVERITIES = get_args(Severity)
_FLAGS = tuple(name for name in get_type_hints(LicenceTerms) if name.startswith("is_"))


def problems(corpus: Corpus) -> Iterator[str]:
    """Name what is wrong with a declaration, the first thing first."""
    if problem := id_problem(corpus.id):
        yield problem
        return
    yield from _of_facts(corpus)
    yield from _of_citation(corpus)
    yield from _of_items("licence_terms", corpus.licence_terms, LicenceTerms, "part", _of_terms)
    yield from _of_people(corpus.people)
    yield from _of_code(corpus)
    yield from _of_items("sources", corpus.sources, Source, "path", _of_source)
    yield from _of_splits(corpus.splits)
    yield from _of_items("releases", corpus.releases, Release, "name", _of_release)
    yield from _of_datasheet(corpus.datasheet)
    yield from _of_items("schemes", corpus.schemes, Scheme, "name", lambda scheme: _of_scheme(corpus.id, scheme))
    yield from _of_items("rules", corpus.rules, Rule, "id", _of_rule)
    yield from _of_common_rules(corpus.common_rules)
    yield from _of_items("exceptions", corpus.exceptions, Exempt, None, _of_exception)


def id_problem(corpus_id: Any) -> str | None:
    """Return the form of an id, if this is not a valid one."""
    if isinstance(corpus_id, str) and corpus_id not in RESERVED and ID.fullmatch(corpus_id):
        return None
    return "an id is lower case letters, digits and '_', and none of: " + ", ".join(RESERVED)


def _of_facts(corpus: Corpus) -> Iterator[str]:
    if type(corpus.version) is not int or corpus.version < 1:
        yield f"version is a whole number from 1, not {corpus.version!r}"
    for name in _TEXTS:
        if not isinstance(getattr(corpus, name), str):
            yield f"{name} is a text, not {getattr(corpus, name)!r}"
    for name in ("homepage", "licence_url"):
        yield from _of_address(name, getattr(corpus, name))
    if not isinstance(corpus.languages, tuple):
        yield f"languages is a tuple of codes, such as ('en',), not {corpus.languages!r}"
        return
    for language in corpus.languages:
        if not isinstance(language, str) or not LANGUAGE.fullmatch(language):
            yield f"languages has {language!r}, which is no code of ISO 639, such as 'en'"


def _of_citation(corpus: Corpus) -> Iterator[str]:
    yield from _of_items("authors", corpus.authors, Author, None, _of_author)
    if corpus.year is not None and (type(corpus.year) is not int or not 1900 <= corpus.year <= 9999):
        yield f"year is a year of four digits, not {corpus.year!r}"
    reference = corpus.reference
    if reference is None:
        return
    if not isinstance(reference, Reference) or not isinstance(reference.title, str) or not reference.title:
        yield f"reference is a Reference with a title, not {reference!r:.100}"
        return
    yield from _unknown(f"reference has the kind {reference.kind!r}", reference.kind, _REFERENCES)
    yield from _of_address("the url of the reference", reference.url)


def _of_people(people: Any) -> Iterator[str]:
    if people is None:
        return
    if not isinstance(people, People):
        yield f"people is a People or None, not {people!r:.100}"
        return
    members = people.members
    if not isinstance(members, tuple) or not all(isinstance(name, str) and _MEMBER.fullmatch(name) for name in members):
        yield f"the members of people are a tuple of names, such as 'carried.workers', not {members!r:.100}"
    if not isinstance(people.are_keys_public, bool) or not isinstance(people.note, str):
        yield "people have are_keys_public, which is True or False, and a note, which is a text"


def _of_author(author: Author) -> Iterator[str]:
    if not isinstance(author.family, str) or not author.family or not isinstance(author.given, str):
        yield f"an author has a family name and given names, which are texts: {author!r}"


def _of_terms(terms: LicenceTerms) -> Iterator[str]:
    head = f"the terms of the part {terms.part!r}"
    if not isinstance(terms.part, str) or not terms.part or not isinstance(terms.note, str):
        yield f"{head} have a part and a note, which are texts"
    if terms.spdx is not None and not _is_licence(terms.spdx):
        yield f"{head} have the licence {terms.spdx!r}, which is no expression of SPDX identifiers, such as 'CC-BY-4.0'"
    if not isinstance(terms.columns, tuple) or not all(_COLUMN.fullmatch(str(column)) for column in terms.columns):
        expected = "a tuple of columns, each schema.view.column or schema.view.column.member"
        yield f"{head} have {expected}, not {terms.columns!r:.100}"
    for day in (terms.said_from, terms.said_before):
        if day is not None and not _is_day(day):
            yield f"{head} have a day such as '2011-04-08', not {day!r}"
    for flag in _FLAGS:
        if type(getattr(terms, flag)) is not bool:
            yield f"{head} have {flag}, which is True or False, not {getattr(terms, flag)!r}"
    yield from _of_address(f"the address of the licence in {head}", terms.licence_url)


def _is_day(text: Any) -> bool:
    try:
        return _DAY.fullmatch(text) is not None and bool(date.fromisoformat(text))
    except (TypeError, ValueError):
        return False


def _is_licence(expression: Any) -> bool:
    try:
        return bool(canonicalize_license_expression(expression))
    except (InvalidLicenseExpression, AttributeError):
        return False


def _of_code(corpus: Corpus) -> Iterator[str]:
    functions = {name: getattr(corpus, name) for name in ("read", "write", "text_ids_of", "write_record", "make")}
    for name, function in functions.items():
        if not callable(function) and not (name in ("write_record", "make") and function is None):
            yield f"{name} is a function, not {function!r}"
    if type(corpus.has_record_per_file) is not bool:
        yield f"has_record_per_file is True or False, not {corpus.has_record_per_file!r}"


def _of_items(name: str, items: Any, kind: type, key: str | None, of_item: Any) -> Iterator[str]:
    """Check a tuple of declared things, which have a key of their own; then each of them."""
    if not isinstance(items, tuple) or not all(isinstance(item, kind) for item in items):
        yield f"{name} is a tuple of {kind.__name__}, with a comma behind a single one, not {items!r:.100}"
        return
    yield from (problem for item in items for problem in of_item(item))
    keys = [getattr(item, key) for item in items] if key else []
    yield from (f"{name} has {value!r} twice" for index, value in enumerate(keys) if value in keys[:index])


def _of_source(source: Source) -> Iterator[str]:
    if not isinstance(source.path, str) or not source.path or points_outside(source.path):
        yield f"a source has the path {source.path!r}"
    yield from _of_address(f"the url of the source {source.path!r}", source.url or "none")
    if not isinstance(source.holds, tuple) or not all(isinstance(path, str) and path for path in source.holds):
        yield f"what the source {source.path!r} holds is a tuple of paths, not {source.holds!r:.100}"
    if source.sha256 is not None and not (isinstance(source.sha256, str) and _SHA256.fullmatch(source.sha256)):
        yield f"the sha256 of the source {source.path!r} is not 64 lower case hex digits: {source.sha256!r}"
    if source.size is not None and (type(source.size) is not int or source.size < 1):
        yield f"the size of the source {source.path!r} is a number of bytes from 1, not {source.size!r}"


def _of_splits(splits: Any) -> Iterator[str]:
    if not isinstance(splits, Mapping):
        yield f"splits is a mapping of the publisher's names to standard ones, not {splits!r:.100}"
        return
    for name, standard in splits.items():
        if not isinstance(name, str) or not name:
            yield f"splits has the name {name!r}"
        if standard is not None:
            yield from _unknown(f"splits has the standard name {standard!r}, of {name!r}", standard, STANDARD_SPLITS)


def _of_release(release: Release) -> Iterator[str]:
    texts = (release.name, release.title, release.description)
    if not all(isinstance(text, str) and text for text in texts):
        yield f"a publisher's release has a name, a title and a description, which are texts: {release!r}"


def _of_datasheet(datasheet: Any) -> Iterator[str]:
    if datasheet is None:
        return
    if not isinstance(datasheet, Datasheet):
        yield f"datasheet is a Datasheet or None, not {datasheet!r:.100}"
        return
    for name, value in vars(datasheet).items():
        is_list = name in ("quirks", "sources")
        texts = value if is_list else (value,)
        if isinstance(value, tuple) != is_list or not all(isinstance(text, str) for text in texts):
            yield f"{name} of the datasheet is a {'tuple of texts' if is_list else 'text'}, not {value!r:.100}"


def _of_scheme(corpus_id: str, scheme: Scheme) -> Iterator[str]:
    head = f"the scheme {scheme.name!r}"
    if not isinstance(scheme.name, str) or not scheme.name.startswith(f"{corpus_id}."):
        yield f"{head} must begin with '{corpus_id}.'"
    elif not ID.fullmatch(scheme.name.partition(".")[2]):
        yield f"{head} is not '{corpus_id}.' and lower case letters, digits and '_'"
    if not isinstance(scheme.description, str):
        yield f"the description of {head} is a text, not {scheme.description!r}"
    yield from _unknown(f"{head} has the target {scheme.target!r}", scheme.target, _TARGETS)
    if scheme.kind is not None:
        yield from _unknown(f"{head} has the kind {scheme.kind!r}", scheme.kind, _KINDS)
    if scheme.scale is not None:
        yield from _unknown(f"{head} has the scale {scheme.scale!r}", scheme.scale, _SCALES)
    if not isinstance(scheme.labels, Mapping):
        yield f"the labels of {head} are a mapping of labels to meanings, not {scheme.labels!r:.100}"
        return
    for label, meaning in scheme.labels.items():
        if not isinstance(label, str) or not isinstance(meaning, str):
            yield f"{head} has the label {label!r} with the meaning {meaning!r}; both are texts"


def _of_rule(rule: Rule) -> Iterator[str]:
    if not isinstance(rule.id, str) or not _RULE.fullmatch(rule.id):
        yield f"the rule {rule.id!r} is not capital letters, '-' and a number, such as 'TT-01'"
    elif rule.id in {common.id for common in shared_rules()}:
        yield f"the rule {rule.id!r} is one of the common rules"
    yield from _unknown(f"the rule {rule.id!r} has the severity {rule.severity!r}", rule.severity, _SEVERITIES)
    if not (isinstance(rule.condition, str) and isinstance(rule.remedy, str)):
        yield f"the condition and the remedy of the rule {rule.id!r} are texts"


def _of_common_rules(common_rules: Any) -> Iterator[str]:
    if not isinstance(common_rules, tuple):
        yield f"common_rules is a tuple of ids, such as ('TH-02',), not {common_rules!r}"
        return
    for rule in common_rules:
        yield from _unknown(f"common_rules has {rule!r}", rule, [common.id for common in shared_rules()])


def _of_exception(exception: Exempt) -> Iterator[str]:
    if not all(isinstance(text, str) and text for text in (exception.check, exception.scope, exception.reason)):
        yield f"an exception is a check, a scope and a reason, not {exception!r}"


def _of_address(name: str, address: Any) -> Iterator[str]:
    if address and not (isinstance(address, str) and ADDRESS.fullmatch(address)):
        yield f"{name} is an address that begins with https://, not {address!r}"


def _unknown(problem: str, name: Any, known: Iterable[str]) -> Iterator[str]:
    """Name what is not known, and the nearest that is."""
    if name not in (names := list(known)):
        yield f"{problem}; one of: {', '.join(closest(str(name), names))}"
