"""The dataset card below its head: terms, configurations, provenance, citation, and the answers of a datasheet."""

from collections.abc import Iterator, Sequence
from typing import Any

from talkhouse.citation import formats
from talkhouse.citation.work import Citation
from talkhouse.export.composition import notes
from talkhouse.packages.content import Classes, Config, CorpusFacts, ExportPackage, PackageFile, SchemeFacts, counted
from talkhouse.packages.export import code, link, plain, provenance, table, ticks_around, title
from talkhouse.provenance import not_published
from talkhouse.settings import version
from talkhouse.warehouse.build_facts import NOT_PUBLISHED, QUESTIONS

_SHOWN = 40
"""Source files that a card lists; all are in manifest.json."""


def card(package: ExportPackage, files: Sequence[PackageFile]) -> str:
    """Return the body of the card of a package with these files."""
    cited = formats.bibtex(list(map(Citation.from_corpus, package.corpora))).rstrip()
    ticks = ticks_around(cited, 3)
    lines = [
        *(f"# {plain(title(package))}", ""),
        *_descriptions(package),
        *_terms(package),
        *_configurations(package, files),
        *_provenance(package),
        *("## Citation", "", f"{ticks}bibtex", cited, ticks, ""),
        *_answers(package),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _descriptions(package: ExportPackage) -> Iterator[str]:
    for corpus, facts in zip(package.corpora, package.facts, strict=True):
        note, about = not_published(corpus), f"{plain(facts.description)} {link(facts.homepage)}"
        yield from (f"**{plain(corpus['title'])}**{f' ({note})' if note else ''}: {about}", "")


def _terms(package: ExportPackage) -> Iterator[str]:
    yield from ("## Licence and terms", "")
    for corpus in package.corpora:
        url = f" ({link(corpus['licence_url'])})" if corpus["licence_url"] else ""
        terms = f" {plain(corpus['terms'])}" if corpus["terms"] else ""
        yield from (f"**{plain(corpus['title'])}**: {plain(corpus['licence'])}{url}.{terms}", "")
    if package.parts:
        yield from table(
            ("corpus", "part", "licence", "asks", "note"),
            (
                (part.corpus_id, part.part, part.spdx or "none", ", ".join(part.flags).replace("_", "-"), part.note)
                for part in package.parts
            ),
        )
    yield from ("These are the terms of what is in this package; LICENSE.md has them with their addresses.", "")


def _configurations(package: ExportPackage, files: Sequence[PackageFile]) -> Iterator[str]:
    yield from ("## Configurations", "")
    yield from (
        "```python",
        "from datasets import load_dataset",
        "",
        f'rows = load_dataset("DIR", "{package.configs[0].name}", split="{package.configs[0].splits[0].name}")',
        "```",
        "",
        "Labels are numbers here, and class labels in `datasets`; names of images are names, not pictures. "
        "`all` is reserved in `datasets`, so that a corpus without splits is `train`.",
        "",
    )
    for config in package.configs:
        yield from _section(config, [file for file in files if file.config == config.name])


def _provenance(package: ExportPackage) -> Iterator[str]:
    made_from = provenance(package)
    build = made_from["build"]
    yield from ("## Provenance", "")
    yield f"Written by Talkhouse {version()}, from build {build['load_id']} by Talkhouse {build['talkhouse_version']}."
    if made_from["content_id"]:
        release = (
            f"Talkhouse release {plain(made_from['talkhouse_release'])}, " if made_from["talkhouse_release"] else ""
        )
        yield f"The warehouse is {release}content id `{made_from['content_id']}`."
    files: list[dict[str, Any]] = made_from["files"]
    if not files:
        yield ""
        return
    yield from ("The rows come from these published files:", "")
    yield from table(
        ("file", "bytes", "SHA-256", "address"),
        ((file["source_file_id"], f"{file['bytes']:,}", file["sha256"], file["url"]) for file in files[:_SHOWN]),
    )
    if len(files) > _SHOWN:
        yield from (f"And {len(files) - _SHOWN:,} more files; `meta.source_files` in the warehouse has all.", "")


def _answers(package: ExportPackage) -> Iterator[str]:
    yield from ("## What is known, and what is not", "")
    for corpus, facts in zip(package.corpora, package.facts, strict=True):
        yield from (f"### About {plain(corpus['title'])}", "")
        yield from table(("question", "answer"), answers(package, corpus, facts))


def _section(config: Config, files: Sequence[PackageFile]) -> Iterator[str]:
    yield from (f"### {config.name}", "", plain(config.comment), "")
    yield from (f"{counted(config.rows, 'row')} of {code(config.selection.full_name)}{_order(config)}.", "")
    yield from _filters(config)
    yield from table(
        ("split", "as published", "standard split", "rows", "files"),
        (
            (split.name, split.published, split.standard, f"{split.rows:,}", sum(file.split == split for file in files))
            for split in config.splits
        ),
    )
    yield from _notes(config)
    classes = {each.column: each for each in config.classes}
    yield from table(
        ("column", "type", "meaning"),
        (
            (column["name"], _type(column["type"], classes.get(column["name"])), column["meaning"])
            for column in config.selection.columns
        ),
    )
    for each in config.classes:
        yield from _labels(each)


def _order(config: Config) -> str:
    columns = ", ".join(map(code, config.selection.order))
    return f", in the order of {columns}" if columns else ""


def _filters(config: Config) -> Iterator[str]:
    filters = config.selection.filters
    wanted = {
        "split": filters.split,
        "release": filters.release,
        "subset": ", ".join(filters.subsets),
        "where": filters.where,
    }
    named = [f"{name}: {code(value)}" for name, value in wanted.items() if value]
    if named:
        yield from (f"Only some of its rows are here; {'; '.join(named)}.", "")


def _type(kind: str, declared: Classes | None) -> str:
    text = kind.lower()
    return text if declared is None else f"{'list of class labels' if declared.is_list else 'class label'} ({text})"


def _notes(config: Config) -> Iterator[str]:
    """Yield the publisher's releases, subsets and languages of the rows, and surprises for a reader."""
    lines = [*notes(config.composition), *config.warnings]
    if lines:
        yield from (f"- {plain(line)}" for line in lines)
        yield ""


def _labels(declared: Classes) -> Iterator[str]:
    scheme = f", of the scheme {code(declared.scheme)}" if declared.scheme else ""
    yield from (f"Labels of {code(declared.column)}{scheme}:", "")
    labels = enumerate(declared.labels)
    yield from table(("number", "label", "meaning"), ((number, label.label, label.meaning) for number, label in labels))


_NOT_KNOWN = "not known"


def answers(package: ExportPackage, corpus: dict[str, Any], facts: CorpusFacts) -> Iterator[tuple[str, str]]:
    """Yield the questions of a corpus with their answers."""
    paper = f"See {corpus['homepage']} and the paper under Citation."
    if corpus["is_sample"]:
        paper = "This sample is invented, and comes with Talkhouse."
    sheet = facts.datasheet
    yield QUESTIONS["motivation"], f"{sheet.get('motivation') or paper} Funding: {_NOT_KNOWN}."
    yield QUESTIONS["collection"], sheet.get("collection") or paper
    yield QUESTIONS["composition"], _joined(sheet.get("composition"), _composition(facts))
    yield QUESTIONS["quirks"], _joined(*sheet.get("quirks", ()), _errors(facts))
    languages = ", ".join(facts.languages) or _NOT_KNOWN
    yield "In which languages?", f"{languages}; which varieties of them: {NOT_PUBLISHED}."
    yield "When was it said?", _times(facts)
    yield "Who speaks?", f"{counted(facts.speaker_count, 'speaker')}; demographics: {NOT_PUBLISHED}."
    demographics = f"Demographics of annotators: {NOT_PUBLISHED}."
    labelling = _joined(sheet.get("labelling"), _annotators(package, facts).rstrip(), demographics)
    yield QUESTIONS["labelling"], labelling
    yield "Consent, payment, ethical review?", f"{_NOT_KNOWN.capitalize()} here. {paper}"
    yield "Does it name people?", _people(package)
    yield (
        "What was done to the texts?",
        "Nothing: they are as published, to the character. What a view does is said above, under its name.",
    )
    tasks = sorted({config.task_category for config in package.configs if config.task_category})
    yield QUESTIONS["uses"], _joined(sheet.get("uses"), f"{', '.join(tasks) or _NOT_KNOWN}; the terms above apply.")
    yield QUESTIONS["limits"], sheet.get("limits") or f"{NOT_PUBLISHED.capitalize()}."
    yield "Who maintains it?", "Its publisher. This package is made anew from the published files by Talkhouse."
    if sheet:
        yield QUESTIONS["sources"], _joined(*sheet.get("sources", ()))


def _joined(*sentences: str | None) -> str:
    """Write sentences as one text; missing ones are left out."""
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


def _annotators(package: ExportPackage, facts: CorpusFacts) -> str:
    """Return the number of annotators per item of each scheme in the package, and their agreement."""
    schemes = {each.scheme for config in package.configs for each in config.classes}
    return "".join(_of_scheme(scheme) for scheme in facts.schemes if scheme.scheme in schemes)


def _of_scheme(facts: SchemeFacts) -> str:
    fewest, most = facts.fewest_annotators, facts.most_annotators
    number = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    text = f"{facts.scheme}: {number} annotator{'' if most == 1 else 's'} for each {facts.target}"
    alphas = [(each.release, each.krippendorff_alpha) for each in facts.agreement]
    agree = ", ".join(
        f"{alpha:.2f}{f' ({release})' if release else ''}" for release, alpha in alphas if alpha is not None
    )
    return f"{text}; {f'Krippendorff alpha: {agree}' if agree else f'agreement: {_NOT_KNOWN}'}. "


def _people(package: ExportPackage) -> str:
    if about := package.about_pseudonyms:
        return f"{about['remark']} The key is {about['key']}."
    ids = "Ids of people are as published"
    return f"{ids}. Names and other personal data inside texts are as they were; how many there are: {_NOT_KNOWN}."
