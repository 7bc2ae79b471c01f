"""The profile of a corpus: what may be wrong with its dialogues, with counts and examples.

It looks for repeats, templates, gaps, odd times and languages, and personal data.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from itertools import islice
from typing import Any

import duckdb
import msgspec

from talkhouse.personal import TITLES, PersonalKind
from talkhouse.personal.find import candidate_pattern, find
from talkhouse.schema.sql_files import sql_of
from talkhouse.schema.toml_files import toml_of
from talkhouse.warehouse.build_facts import own_corpora
from talkhouse.warehouse.opened import Warehouse


class Check(msgspec.Struct, frozen=True):
    """Something that may be wrong with dialogues."""

    name: str
    title: str
    of: str
    """What its cases are: dialogues, turns, messages, texts or speakers."""
    effect: str
    """What they do to a model or a chart."""
    advice: str
    sql: str = ""
    """The query of the cases; empty for what Python looks for."""
    texts: str = ""
    """The query of what Python looks through."""


@dataclass(frozen=True)
class Case:
    """A dialogue or turn that a check has found."""

    dialogue_id: str
    turn_index: int | None
    """None: the whole dialogue."""
    detail: str


@dataclass(frozen=True)
class CheckResult:
    """What a check has found in a corpus."""

    check: Check
    count: int
    whole: int
    """How many there are of what is counted."""
    cases: Sequence[Case]
    """Some of them, the most telling first."""
    note: str = ""
    """What was not looked at, and why; empty: all was."""

    @property
    def percent(self) -> str:
        """The share of the whole, as it is shown."""
        share = self.count / self.whole if self.whole else 0.0
        return f"{share:.1%}" if share >= _SHOWN or not share else "under 0.1%"


@dataclass(frozen=True)
class Profile:
    """What the checks have found in a corpus, in the order of the checks, also where they found nothing."""

    corpus_id: str
    results: Sequence[CheckResult] = field(default_factory=tuple)

    def of(self, name: str) -> CheckResult:
        """Return the result of a check by its name; KeyError for none of these."""
        return {result.check.name: result for result in self.results}[name]


@cache
def checks() -> tuple[Check, ...]:
    """Return all checks, in their order."""
    declared = toml_of(__file__, "checks")
    of_kinds = (
        {**declared["personal"], "name": _of_kind(kind), "title": f"{title[:1].upper()}{title[1:]}"}
        for kind, title in TITLES.items()
    )
    return tuple(msgspec.convert(check, Check) for check in (*declared["checks"], declared["language"], *of_kinds))


def _of_kind(kind: PersonalKind) -> str:
    """Return the name of the check for a kind of personal data."""
    return f"personal_{kind}"


_SHOWN = 0.001
"""The least share that is shown as it is."""

CASES = 20
"""Cases of each check that are kept."""

_MOST = 200_000
"""Texts that may have personal data, and are read for it."""

_BROKEN = (
    r"[\x{FFFD}\x00-\x08\x0B\x0C\x0E-\x1F]|[\x{C2}\x{C3}][\x{80}-\x{BF}]|\x{E2}\x{20AC}[\x{80}-\x{BF}\x{2122}\x{153}\x{201C}\x{201D}]"
    r"|\x{C3}[\x{192}\x{201A}\x{201E}\x{2026}\x{2020}\x{2021}\x{2C6}\x{2030}\x{160}\x{2039}\x{152}\x{178}\x{153}\x{2122}]"
)
"""The sign for what was no character, control characters, and UTF-8 that was read as Latin-1 or Windows-1252."""

_MOST_DIALOGUES = 20_000
"""Dialogues that are looked at; of more, so many in an order that has nothing to do with them."""

_LEAST_LETTERS = 60
"""Characters of a dialogue whose language can be told; of letters that are syllables or words, a third."""

_SURE = 0.99
"""The least probability of the language that is named."""

_NOT_INSTALLED = "not looked at: it needs pip install 'talkhouse[languages]'"


def profiled(warehouse: Warehouse) -> list[str]:
    """Return the corpora that are looked at where none is named: those with a corpus.toml, or all without any."""
    own = own_corpora(warehouse.con, warehouse.database)
    return [corpus_id for corpus_id in warehouse.corpus_ids if not own or corpus_id in own]


def profile(
    con: duckdb.DuckDBPyConnection,
    corpus_id: str,
    *,
    only: Iterable[str] | None = None,
    most: int = CASES,
    on_check: Callable[[int], None] = lambda _: None,
) -> Profile:
    """Run all checks on a corpus, or those that ``only`` names, and keep so many cases of each.

    ``on_check`` is called with 1 for each check.

    Raises DuckDB's own errors where the warehouse has no such tables.
    """
    names = {check.name for check in checks()} if only is None else set(only)
    wanted = [check for check in checks() if check.name in names]
    rows = _query(con, corpus_id, toml_of(__file__, "checks")["wholes"])
    wholes = dict(zip((column[0] for column in rows.description or ()), rows.fetchall()[0], strict=True))
    results = dict[str, CheckResult]()
    for check in wanted:
        if check.sql:
            results[check.name] = _found(con, corpus_id, check, wholes[check.of], most)
        elif check.name == "language":
            results[check.name] = _languages(con, corpus_id, check, wholes[check.of], most)
        on_check(1)
    if any(_of_kind(kind) in names for kind in PersonalKind):
        results |= {result.check.name: result for result in _personal(con, corpus_id, wholes["turns"], most)}
    return Profile(corpus_id, [results[check.name] for check in wanted])


def _query(con: duckdb.DuckDBPyConnection, corpus_id: str, sql: str, **values: object) -> duckdb.DuckDBPyConnection:
    return con.execute(f"with {sql_of(__file__, 'turns')}\n{sql}", {"corpus": corpus_id, **values})


def _found(con: duckdb.DuckDBPyConnection, corpus_id: str, check: Check, whole: int, most: int) -> CheckResult:
    values = {"broken": _BROKEN} if "$broken" in check.sql else {}
    sql = f"select *, count(*) over () from ({check.sql}) limit {max(most, 1)}"
    rows = _query(con, corpus_id, sql, **values).fetchall()
    cases = [Case(dialogue_id, turn_index, detail) for dialogue_id, turn_index, detail, _ in rows[:most]]
    return CheckResult(check, rows[0][3] if rows else 0, whole, cases)


def _languages(con: duckdb.DuckDBPyConnection, corpus_id: str, check: Check, whole: int, most: int) -> CheckResult:
    rows = _query(con, corpus_id, check.texts)
    found, note = other_languages(iter(rows.fetchone, None))
    return CheckResult(check, len(found), whole, [Case(*case) for case in found[:most]], note)


def _personal(con: duckdb.DuckDBPyConnection, corpus_id: str, whole: int, most: int) -> Iterator[CheckResult]:
    """Yield the turns that have each kind of personal data."""
    by_name = {check.name: check for check in checks()}
    rows = _query(con, corpus_id, by_name[_of_kind(PersonalKind.EMAIL)].texts, pattern=candidate_pattern())
    cases: dict[PersonalKind, list[Case]] = {kind: [] for kind in PersonalKind}
    counts = dict.fromkeys(PersonalKind, 0)
    for dialogue_id, turn_index, text, language in islice(iter(rows.fetchone, None), _MOST):
        found: dict[PersonalKind, Any] = {item.kind: item for item in reversed(find(text, language))}
        for kind, item in found.items():
            counts[kind] += 1
            if len(cases[kind]) < most:
                cases[kind].append(Case(dialogue_id, turn_index, text[item.start : item.end]))
    note = f"of the first {_MOST:,} texts that may have any" if rows.fetchone() is not None else ""
    for kind in PersonalKind:
        yield CheckResult(by_name[_of_kind(kind)], counts[kind], whole, cases[kind], note)


def as_data(found: Profile) -> dict[str, Any]:
    """Return a profile as ``--json`` prints it."""
    return {
        "corpus_id": found.corpus_id,
        "checks": [
            {
                "check": result.check.name,
                "title": result.check.title,
                "count": result.count,
                "of": result.check.of,
                "whole": result.whole,
                "note": result.note,
                "effect": result.check.effect,
                "advice": result.check.advice,
                "cases": [msgspec.to_builtins(case) for case in result.cases],
            }
            for result in found.results
        ],
    }


def other_languages(dialogues: Iterable[tuple[str, str, str]]) -> tuple[list[tuple[str, None, str]], str]:
    """Return the dialogues whose words are in another language than their ISO 639-1 code says, and what was left out.

    ``dialogues``: id, declared language and text of each. A case is an id, None, and a sentence.
    """
    if find_spec("py3langid") is None:
        return [], _NOT_INSTALLED
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    rows, found = iter(dialogues), []
    for dialogue_id, declared, text in islice(rows, _MOST_DIALOGUES):
        length = sum(3 if character > "\u2e80" else 1 for character in text if character.isalpha())
        if length < _LEAST_LETTERS:
            continue
        language, probability = identifier.classify(text)
        if language != declared.partition("-")[0].casefold() and probability >= _SURE:
            found.append((dialogue_id, None, f"declared {declared}, looks like {language}"))
    more = next(rows, None) is not None
    return found, f"of {_MOST_DIALOGUES:,} dialogues, drawn by their ids" if more else ""
