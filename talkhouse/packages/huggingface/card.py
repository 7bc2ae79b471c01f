"""The dataset card: README.md."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from talkhouse.citation import formats
from talkhouse.citation.work import Citation
from talkhouse.made import not_published
from talkhouse.packages.content import DataFile, Package
from talkhouse.packages.descriptions import provenance, title
from talkhouse.packages.huggingface.answers import answers
from talkhouse.packages.huggingface.configs import section
from talkhouse.packages.huggingface.head import head
from talkhouse.packages.markdown import link, plain, table, ticks_around
from talkhouse.settings import version

_SHOWN = 40
"""Source files that a card lists; all are in manifest.json."""


def card(package: Package, folder: Path, files: Sequence[DataFile]) -> str:
    """Return the card of a package whose files are in a folder."""
    cited = formats.bibtex(list(map(Citation.of, package.corpora))).rstrip()
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
    return f"---\n{head(package, folder, files)}---\n\n" + "\n".join(lines).rstrip() + "\n"


def _descriptions(package: Package) -> Iterator[str]:
    for corpus, facts in zip(package.corpora, package.facts, strict=True):
        note, about = not_published(corpus), f"{plain(facts.description)} {link(facts.homepage)}"
        yield from (f"**{plain(corpus['title'])}**{f' ({note})' if note else ''}: {about}", "")


def _terms(package: Package) -> Iterator[str]:
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


def _configurations(package: Package, files: Sequence[DataFile]) -> Iterator[str]:
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
        yield from section(config, [file for file in files if file.config == config.name])


def _provenance(package: Package) -> Iterator[str]:
    made_from = provenance(package)
    build = made_from["build"]
    yield from ("## Provenance", "")
    yield f"Written by Talkhouse {version()}, from build {build['load_id']} by Talkhouse {build['talkhouse_version']}."
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


def _answers(package: Package) -> Iterator[str]:
    yield from ("## What is known, and what is not", "")
    for corpus, facts in zip(package.corpora, package.facts, strict=True):
        yield from (f"### About {plain(corpus['title'])}", "")
        yield from table(("question", "answer"), answers(package, corpus, facts))
