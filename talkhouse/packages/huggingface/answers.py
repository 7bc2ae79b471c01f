"""What a dataset card answers of a corpus: the questions of datasheets and data statements, and nothing guessed."""

from collections.abc import Iterator, Sequence
from typing import Any

from talkhouse.packages.content import Package
from talkhouse.packages.huggingface.markdown import counted
from talkhouse.schema.sql import dicts, literal, quoted

NOT_PUBLISHED = "not published"
NOT_KNOWN = "not known"

_COUNTS = """
select
    languages, dialogue_count, record_count, turn_count, speaker_count, annotation_count, file_count,
    quarantined_count, finding_count, example_count
from {}.bi.corpora where corpus_id = ?
"""

_SAID = """
select min(turns.said_at)::date::varchar as first_day, max(turns.said_at)::date::varchar as last_day
from {}.main.turns where starts_with(dialogue_id, {})
"""

_ANNOTATORS = """
select min(annotators) as fewest, max(annotators) as most, count(*) as items
from (
    select count(distinct annotator_index) as annotators from {}.main.annotations where scheme = ?
    group by record_id, turn_index, persona_set, persona_position, start_index, end_index
)
"""

_AGREEMENT = """
select release, round(krippendorff_alpha, 2) as alpha from {}.bi.scheme_agreement where scheme = ? order by release
"""


def answers(package: Package, corpus: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the questions of a corpus with their answers."""
    con, database = package.warehouse.con, quoted(package.warehouse.database)
    (counts,) = dicts(con.execute(_COUNTS.format(database), [corpus["corpus_id"]]))
    paper = _paper(corpus)
    yield "Why and by whom was it made?", f"Motivation and choice of the talks: {paper}. Funding: {NOT_KNOWN}."
    yield "What does it have?", _composition(counts)
    yield "What is missing or wrong?", _errors(counts)
    yield "Which languages?", f"{_listed(counts['languages'].split())}. Variety of the language: {NOT_PUBLISHED}."
    yield "When was it said?", _time_span(package, corpus["corpus_id"])
    yield "Who speaks?", f"{counted(counts['speaker_count'], 'speaker')}; their demographics: {NOT_PUBLISHED}."
    yield "Who labelled it?", _annotators(package, corpus["corpus_id"])
    yield "Consent, payment, ethical review?", f"{_capital(NOT_KNOWN)} here; {paper}."
    yield "Does it name people?", _people(package)
    yield (
        "What was done to it?",
        "Each configuration says above what its view does. Texts are as published, to the character.",
    )
    yield "What is it for?", _tasks(package)
    yield (
        "Who maintains it?",
        (f"Its authors: {corpus['homepage']}. This package is made anew from their files by `talkhouse export`."),
    )


def _paper(corpus: dict[str, Any]) -> str:
    if corpus["is_sample"]:
        return "an invented sample that ships with Talkhouse"
    return f"see the paper under Citation, and {corpus['homepage']}"


def _composition(counts: dict[str, Any]) -> str:
    kinds = ("dialogue", "turn", "annotation", "example")
    named = [counted(counts[f"{kind}_count"], kind) for kind in kinds if counts[f"{kind}_count"]]
    records, files = counted(counts["record_count"], "record"), counted(counts["file_count"], "file")
    return f"The corpus: {_listed(named)}, from {records} in {files}. This package: what is listed above."


def _errors(counts: dict[str, Any]) -> str:
    refused, findings = counts["quarantined_count"], counts["finding_count"]
    return (
        f"{counted(refused, 'published record')} could not be read and {'is' if refused == 1 else 'are'} not in it. "
        f"Checks have {counted(findings, 'finding')} about the rest: `bi.findings` in the warehouse."
    )


def _time_span(package: Package, corpus_id: str) -> str:
    query = _SAID.format(quoted(package.warehouse.database), literal(f"{corpus_id}:"))
    ((first, last),) = package.warehouse.con.execute(query).fetchall()
    if first is None:
        return f"{_capital(NOT_PUBLISHED)}."
    return f"From {first} to {last}, by the published times." if first != last else f"On {first}."


def _annotators(package: Package, corpus_id: str) -> str:
    schemes = sorted({each.scheme for config in package.configs for each in config.classes if each.scheme})
    said = [_of_scheme(package, scheme) for scheme in schemes if scheme.startswith(f"{corpus_id}.")]
    return f"{''.join(said)}Demographics of annotators: {NOT_PUBLISHED}."


def _of_scheme(package: Package, scheme: str) -> str:
    """Say how many people labelled an item, and how far they agree."""
    con, database = package.warehouse.con, quoted(package.warehouse.database)
    ((fewest, most, items),) = con.execute(_ANNOTATORS.format(database), [scheme]).fetchall()
    if not items:
        return ""
    of_each = "1 annotator" if most == 1 else f"{fewest if fewest == most else f'{fewest} to {most}'} annotators"
    said = f"`{scheme}`: {of_each} for each of {counted(items, 'item')}"
    if most == 1:
        return f"{said}; agreement: {NOT_PUBLISHED}. "
    rows = con.execute(_AGREEMENT.format(database), [scheme]).fetchall()
    alphas = [f"{alpha:.2f}{f' ({release})' if release else ''}" for release, alpha in rows if alpha is not None]
    return f"{said}; Krippendorff's alpha: {', '.join(alphas) or NOT_KNOWN}. "


def _people(package: Package) -> str:
    if said := package.about_pseudonyms:
        return f"{said['remark']} The key is {said['key']}."
    ids = "Ids of people are as published. Names and other personal data inside texts are untouched"
    return f"{ids}; how many there are is {NOT_KNOWN}."


def _tasks(package: Package) -> str:
    categories = sorted({config.task_category for config in package.configs if config.task_category})
    return f"{_capital(_listed(categories)) or _capital(NOT_KNOWN)}. Terms above may forbid some uses."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
