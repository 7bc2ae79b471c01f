"""Where personal data stands in a text: addresses, numbers with their checksums, and names after a greeting."""

import ipaddress
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from phonenumbers import Leniency, PhoneNumberMatcher, is_valid_number

from talkhouse.personal import PersonalKind


class Found(NamedTuple):
    """A piece of personal data: ``text[start:end]``, in code points."""

    kind: PersonalKind
    start: int
    end: int


_WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))

_EMAIL = re.compile(
    r"(?<![0-9A-Za-z_.!#$%&'*+/=?^`{|}~-])[\w.!#$%&'*+=?^`{|}~-]{1,64}@(?:[0-9A-Za-z-]{1,63}\.){1,8}([A-Za-z]{2,24})"
    r"(?![0-9A-Za-z_@-]|:[^\s/])"
)
_IBAN = re.compile(
    r"(?<![0-9A-Za-z])[A-Za-z]{2}[0-9]{2}(?:[ -]?[0-9A-Za-z]{4}){2,7}(?:[ -]?[0-9A-Za-z]{1,3})?(?![0-9A-Za-z])"
)
_CARD = re.compile(r"(?<![0-9+.,-])[2-6](?:[ -]?[0-9]){12,18}(?![0-9])")
_ISSUERS = re.compile(
    r"4(?:.{12}|.{15}|.{18})|5[1-5].{14}|2[2-7].{14}|3[47].{13}|3(?:0[0-5]|[68].).{11}|35.{14}|6(?:011|4|5|2).{12,15}"
)
"""Visa, Mastercard, American Express, Diners Club, JCB, Discover and UnionPay, by their first digits and lengths."""
_ADDRESS = re.compile(
    r"(?<![0-9A-Za-z_.:])(?:(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![0-9A-Za-z_]|\.[0-9])"
    r"|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,8}(?![0-9A-Za-z_:]))"
)
_DIGITS = re.compile(r"[0-9](?:[^0-9\n]{0,4}[0-9]){6}")
_GROUPED = re.compile(r"[0-9)][ .()/-]{1,4}[(0-9]")
_NO_PHONE = re.compile(
    r"[0-9]{1,2}([./-])[0-9]{1,2}\1[0-9]{2,4}|(?:19|20)[0-9]{2}\W{1,3}(?:19|20)[0-9]{2}"
    r"|[0-9]{1,3}(?:[.,][0-9]{3})+|[0-9]+\.[0-9]+|[0-9.]+(?:/[0-9.]+){2,}"
)
"""Dates, years, amounts, decimals, and lists of numbers."""
_GOES_ON = re.compile(r"[0-9A-Za-z_#][ ]?\Z|[0-9A-Za-z_#][/.:-]\Z")
_GOES_ON_BEHIND = re.compile(r"[0-9A-Za-z_]|[/.,:-][0-9A-Za-z]")
_BEFORE = 30
"""Characters before a number in which a word says what it is."""


def find(text: str, language: str | None = None) -> list[Found]:
    """Return the personal data of a text, in its order; no two overlap.

    ``language``: ISO 639-1 code, which tells the countries whose telephone numbers are known without their code.
    """
    found = list[Found]()
    for kind, spans in _finders():
        for start, end in spans(text, language):
            if not any(start < other.end and other.start < end for other in found):
                found.append(Found(kind, start, end))
    return sorted(found, key=lambda item: item.start)


_Span = tuple[int, int]
_Finder = Callable[[str, str | None], Iterator[_Span]]


@cache
def _finders() -> Sequence[tuple[PersonalKind, _Finder]]:
    return (
        (PersonalKind.EMAIL, _emails),
        (PersonalKind.ACCOUNT, _accounts),
        (PersonalKind.CARD, _cards),
        (PersonalKind.IP, _addresses),
        (PersonalKind.PHONE, _phones),
        (PersonalKind.NAME, _names),
    )


def _emails(text: str, _: str | None) -> Iterator[_Span]:
    if "@" not in text:
        return
    for match in _EMAIL.finditer(text):
        before = text[max(0, match.start() - _BEFORE) : match.start()]
        is_address = "://" in before[before.rfind(" ") + 1 :]
        if match[1].casefold() not in _WORDS["file_endings"] and not is_address:
            yield match.span()


def _accounts(text: str, _: str | None) -> Iterator[_Span]:
    for match in _IBAN.finditer(text):
        if end := _longest(match.group(), 15, _is_account):
            yield match.start(), match.start() + end


def _cards(text: str, _: str | None) -> Iterator[_Span]:
    for match in _CARD.finditer(text):
        if end := _longest(match.group(), 13, _is_card):
            yield match.start(), match.start() + end


def _is_account(number: str) -> bool:
    """Whether the checksum of an IBAN is right: ISO 7064, modulo 97, with letters from 10 on."""
    return int("".join(str(int(character, 36)) for character in number[4:] + number[:4])) % 97 == 1


def _is_card(digits: str) -> bool:
    """Whether an issuer has such numbers, and the checksum is right: Luhn's, in which each second digit is doubled."""
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    total = sum(map(int, digits[-1::-2])) + sum(doubled)
    return _ISSUERS.fullmatch(digits) is not None and total % 10 == 0 and len(set(digits)) > 1


def _longest(whole: str, least: int, is_valid: Callable[[str], bool]) -> int:
    """Return the length of the longest beginning that is valid without its separators: the pattern may take more."""
    for length in range(len(whole), least - 1, -1):
        is_whole = (
            length == len(whole) or whole[length] in " -" or whole[length - 1].isdigit() != whole[length].isdigit()
        )
        if is_whole and whole[length - 1] not in " -" and is_valid(whole[:length].replace(" ", "").replace("-", "")):
            return length
    return 0


def _addresses(text: str, _: str | None) -> Iterator[_Span]:
    for match in _ADDRESS.finditer(text):
        try:
            address = ipaddress.ip_address(match.group())
        except ValueError:
            continue
        is_numbering = _last(_lower_before(text, match.start()), "numberings") >= 0 and address.version == 4
        if not (address.is_loopback or address.is_unspecified or is_numbering):
            yield match.span()


def _phones(text: str, language: str | None) -> Iterator[_Span]:
    if not _DIGITS.search(text):
        return
    for region in (None, *_WORDS["regions"].get(language or "en", [])):
        for match in PhoneNumberMatcher(text, region, Leniency.POSSIBLE):
            if _is_phone(text, match, region):
                yield match.start, match.end


def _is_phone(text: str, match: Any, region: str | None) -> bool:
    """Whether a number is one that is dialled: by the code of its country, its grouping, or a word before it."""
    number = match.raw_string
    if sum(character.isdigit() for character in number) < 7 or _NO_PHONE.fullmatch(number):
        return False
    if region is None:
        return True
    if (
        _GOES_ON.search(text[max(0, match.start - 2) : match.start])
        and not text[match.start - 1 : match.start].isspace()
    ):
        return False
    if _GOES_ON_BEHIND.match(text, match.end) or re.search(r"[0-9] \Z", text[: match.start][-2:]):
        return False
    before = _lower_before(text, match.start)
    telephone = _last(before, "telephone")
    if _last(before, "other_numbers") > telephone:
        return False
    return telephone >= 0 or (_GROUPED.search(number) is not None and is_valid_number(match.number))


def _lower_before(text: str, start: int) -> str:
    """Return the words before a number, as far as no other number stands among them."""
    return re.split(r"[0-9]", text[max(0, start - _BEFORE) : start])[-1].casefold()


def _last(before: str, words: str) -> int:
    """Return where the last of some words stands, or -1."""
    return max((match.start() for match in _any_of(words).finditer(before)), default=-1)


@cache
def _any_of(words: str) -> re.Pattern[str]:
    spaced, others = list[str](), list[str]()
    for word in _WORDS[words]:
        (spaced if word.isascii() or (word[0].isalpha() and word[0] < "\u2e80") else others).append(re.escape(word))
    return re.compile("|".join([rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)", *others]))


_NAME = r"[^\W\d_a-z][^\W\d_]+(?:['\u2019-][^\W\d_]+)?"
_PARTICLE = r"(?: (?:van|von|de|der|den|del|da|dos|di|du|la|le|al|bin|ten|ter|zu)){1,2}"
_FULL_NAME = rf"{_NAME}(?:(?:{_PARTICLE})? {_NAME}){{0,2}}"


@cache
def _name_patterns() -> tuple[re.Pattern[str], ...]:
    """Return the patterns whose group is what may be a name; only its phrase is read without regard to case."""
    names = {key: "|".join(words) for key, words in _WORDS["names"].items()}
    title = rf"(?:(?i:{names['titles']})\.? ){{0,2}}"
    greeted, joined = rf"(?<!\w)(?i:{names['greetings']}),? {title}", r" (?:and|und|y|et|e|en|&) "
    ends = r"\s*(?:[,.!?:;\n\u2013-]|$)"
    return (
        re.compile(rf"(?<!\w)(?i:{names['introductions']}):? {title}({_FULL_NAME})"),
        re.compile(
            rf"(?<!\w)(?i:{names['weak_introductions']}) {title}({_FULL_NAME})(?={names['behind']})", re.MULTILINE
        ),
        re.compile(rf"{greeted}(?:{_FULL_NAME}{joined}{title})?({_FULL_NAME})(?={ends})"),
        re.compile(rf"{greeted}({_FULL_NAME})(?={ends}|{joined})"),
        re.compile(
            rf"(?<!\w)(?i:{names['signatures']})[,!.]?[ \t]{{0,2}}\n\s{{0,4}}{title}({_FULL_NAME})(?=\s*(?:[,.\n]|$))"
        ),
    )


def _names(text: str, _: str | None) -> Iterator[_Span]:
    not_names = frozenset(_WORDS["names"]["not_names"])
    for pattern in _name_patterns():
        for match in pattern.finditer(text):
            start, end = match.span(1)
            words = list(re.finditer(r"\S+", text[start:end]))
            while words and words[-1].group().casefold() in not_names:
                words.pop()
            if words and words[0].group()[0].isupper() and words[0].group().casefold() not in not_names:
                yield start, start + words[-1].end()


def candidate_pattern(*, with_names: bool = True) -> str:
    """Return a pattern of RE2, DuckDB's, for the texts to ask ``find`` about: in all others it finds nothing."""
    numbers = r"@|[0-9A-Fa-f]*:[0-9A-Fa-f]*:|(?:[0-9][^0-9\n]{0,4}){6}[0-9]|(?:[0-9]+[.]){3}[0-9]"
    phrases = (_WORDS["names"][key] for key in ("introductions", "weak_introductions", "greetings", "signatures"))
    before_names = "|".join(phrase for of_kind in phrases for phrase in of_kind)
    return rf"{numbers}|(?i:{before_names})[^0-9A-Za-z]" if with_names else numbers
