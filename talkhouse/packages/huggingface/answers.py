"""What a dataset card answers of a corpus: the questions of datasheets and data statements, and nothing guessed."""

from collections.abc import Iterator
from typing import Any

from talkhouse.packages.content import Package
from talkhouse.packages.known_facts import CorpusFacts, SchemeFacts
from talkhouse.packages.markdown import counted
from talkhouse.warehouse.build_facts import NOT_PUBLISHED, QUESTIONS

NOT_KNOWN = "not known"


def answers(package: Package, corpus: dict[str, Any], facts: CorpusFacts) -> Iterator[tuple[str, str]]:
    """Yield the questions of a corpus with their answers."""
    paper = f"See {corpus['homepage']} and the paper under Citation."
    if corpus["is_sample"]:
        paper = "This sample is invented, and comes with Talkhouse."
    said = facts.datasheet
    yield QUESTIONS["motivation"], f"{said.get('motivation') or paper} Funding: {NOT_KNOWN}."
    yield QUESTIONS["collection"], said.get("collection") or paper
    yield QUESTIONS["composition"], _joined(said.get("composition"), _composition(facts))
    yield QUESTIONS["quirks"], _joined(*said.get("quirks", ()), _errors(facts))
    languages = ", ".join(facts.languages) or NOT_KNOWN
    yield "In which languages?", f"{languages}; which varieties of them: {NOT_PUBLISHED}."
    yield "When was it said?", _times(facts)
    yield "Who speaks?", f"{counted(facts.speaker_count, 'speaker')}; demographics: {NOT_PUBLISHED}."
    yield (
        QUESTIONS["labelling"],
        _joined(
            said.get("labelling"), _annotators(package, facts).rstrip(), f"Demographics of annotators: {NOT_PUBLISHED}."
        ),
    )
    yield "Consent, payment, ethical review?", f"{NOT_KNOWN.capitalize()} here. {paper}"
    yield "Does it name people?", _people(package)
    yield (
        "What was done to the texts?",
        "Nothing: they are as published, to the character. What a view does is said above, under its name.",
    )
    categories = sorted({config.task_category for config in package.configs if config.task_category})
    yield QUESTIONS["uses"], _joined(said.get("uses"), f"{', '.join(categories) or NOT_KNOWN}; the terms above apply.")
    yield QUESTIONS["limits"], said.get("limits") or f"{NOT_PUBLISHED.capitalize()}."
    yield "Who maintains it?", "Its publisher. This package is made anew from the published files by Talkhouse."
    if said:
        yield QUESTIONS["sources"], _joined(*said.get("sources", ()))


def _joined(*sentences: str | None) -> str:
    """Write sentences as one text; those that nobody has said are left out."""
    return " ".join(filter(None, sentences))


def _composition(facts: CorpusFacts) -> str:
    counts = {
        "dialogue": facts.dialogue_count,
        "turn": facts.turn_count,
        "label": facts.label_count,
        "published record": facts.record_count,
    }
    there = ", ".join(counted(count, what) for what, count in counts.items() if count)
    return f"The build read {there}; what is in this package is counted above."


def _errors(facts: CorpusFacts) -> str:
    findings = sum(count for _, _, count in facts.findings)
    return (
        f"{counted(facts.quarantined_count, 'published record')} could not be read. Checks of the files have "
        f"{counted(findings, 'finding')}, which bi.findings lists in the warehouse."
    )


def _times(facts: CorpusFacts) -> str:
    if facts.first_said_at is None or facts.last_said_at is None:
        return f"{NOT_PUBLISHED.capitalize()}."
    first, last = facts.first_said_at.date(), facts.last_said_at.date()
    return f"From {first} to {last}, by the times of {counted(facts.timed_turn_count, 'turn')}."


def _annotators(package: Package, facts: CorpusFacts) -> str:
    """Say how many people labelled an item of each scheme that is in the package, and how far they agree."""
    schemes = {each.scheme for config in package.configs for each in config.classes}
    return "".join(_of_scheme(scheme) for scheme in facts.schemes if scheme.scheme in schemes)


def _of_scheme(facts: SchemeFacts) -> str:
    fewest, most = facts.fewest_annotators, facts.most_annotators
    number = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    said = f"{facts.scheme}: {number} annotator{'' if most == 1 else 's'} for each {facts.target}"
    alphas = [(each.release, each.krippendorff_alpha) for each in facts.agreement]
    agree = ", ".join(
        f"{alpha:.2f}{f' ({release})' if release else ''}" for release, alpha in alphas if alpha is not None
    )
    return f"{said}; {f'Krippendorff alpha: {agree}' if agree else f'agreement: {NOT_KNOWN}'}. "


def _people(package: Package) -> str:
    if said := package.about_pseudonyms:
        return f"{said['remark']} The key is {said['key']}."
    ids = "Ids of people are as published"
    return f"{ids}. Names and other personal data inside texts are as they were; how many there are: {NOT_KNOWN}."
