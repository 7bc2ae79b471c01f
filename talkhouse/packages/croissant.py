"""The package of ``--for croissant``, and croissant.json, which describes it: files, records, licences, in JSON-LD."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from talkhouse.citation.formats import bibtex
from talkhouse.citation.work import Citation
from talkhouse.export.manifest import of_build
from talkhouse.export.row_stream import OnRows
from talkhouse.export.selection import Filters
from talkhouse.export.terms import LicencePart
from talkhouse.packages.content import (
    Agreement,
    Config,
    CorpusFacts,
    ExportPackage,
    PackageFile,
    PackageLayout,
    SchemeFacts,
)
from talkhouse.packages.croissant_record_sets import Ids, describe, schema_of
from talkhouse.packages.export import provenance, title
from talkhouse.packages.plan import plan
from talkhouse.packages.tables import ParquetForm, write_tables
from talkhouse.provenance import not_published
from talkhouse.schema.tables import metadata, qualified
from talkhouse.schema.toml_files import toml_of
from talkhouse.settings import version
from talkhouse.warehouse.opened import Warehouse


def _write(package: ExportPackage, folder: Path, on_rows: OnRows) -> list[dict[str, Any]]:
    files = write_tables(package, folder, ParquetForm(), on_rows)
    write_croissant(package, folder, files)
    return [file.described for file in files]


LAYOUT = PackageLayout(plan, _write)

_NAME = "croissant.json"


def write_croissant(package: ExportPackage, folder: Path, files: Sequence[PackageFile]) -> Path:
    """Write croissant.json into a package's folder, in which its files of rows are, and return its path there.

    The types of fields are those of the files: where labels are numbers, so are the fields. It is ASCII, since
    mlcroissant reads it in whatever encoding the machine has.
    """
    text = json.dumps(_document(package, folder, files), indent=2, allow_nan=False)
    (folder / _NAME).write_text(f"{text}\n", encoding="ascii")
    return Path(_NAME)


def _document(package: ExportPackage, folder: Path, files: Sequence[PackageFile]) -> dict[str, Any]:
    facts = package.facts
    ids = Ids()
    rows = {config.name: ids.new(config.name) for config in package.configs}
    described = [
        describe(
            config,
            rows[config.name],
            own := [file for file in files if file.config == config.name],
            schema_of(folder / own[0].path),
            ids,
            has_key=_has_key(package.warehouse, config),
        )
        for config in package.configs
    ]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": _CONFORMS_TO,
        **_about(package, facts),
        **_responsible_ai(package, facts),
        "prov:wasDerivedFrom": derived_from(provenance(package)["files"]),
        "distribution": [node for each in described for node in each.distribution],
        "recordSet": [node for each in described for node in each.record_sets],
    }


def _has_key(warehouse: Warehouse, config: Config) -> bool:
    """Whether the columns by which rows are sorted name one: those of tables and own views do."""
    name = config.selection.full_name
    is_table = any(qualified(table) == name for table in metadata.sorted_tables)
    return is_table or warehouse.view_file(name) is not None


def _about(package: ExportPackage, facts: Sequence[CorpusFacts]) -> dict[str, Any]:
    """Return the properties; undeclared ones are left out."""
    cited = [Citation.from_corpus(corpus) for corpus in package.corpora]
    years = [citation.year for citation in cited if citation.year]
    build = of_build(package.warehouse)
    properties = {
        "name": title(package),
        "description": "\n".join(_description(package, facts)),
        "url": facts[0].homepage if len(facts) == 1 else None,
        "license": licences(package.parts, package.corpora),
        "creator": _creators(cited),
        "citeAs": bibtex(cited),
        "keywords": ["dialogue", "talkhouse", *(corpus.corpus_id for corpus in facts)],
        "inLanguage": list(dict.fromkeys(language for corpus in facts for language in corpus.languages)),
        "datePublished": str(max(years)) if years else None,
        "version": build["talkhouse_release"] or version(),
        # The id of the contents of the warehouse, by which a release is found again.
        "identifier": f"sha256:{build['content_id']}" if build["content_id"] else None,
    }
    return {name: value for name, value in properties.items() if value}


def _description(package: ExportPackage, facts: Iterable[CorpusFacts]) -> Iterator[str]:
    notes = {corpus["corpus_id"]: not_published(corpus) for corpus in package.corpora}
    for corpus in facts:
        note = f" ({notes[corpus.corpus_id]})" if notes[corpus.corpus_id] else ""
        yield f"{corpus.title}{note}: {corpus.description}"
    wanted = "; ".join(_wanted(package.configs[0].selection.filters))
    if wanted:
        yield f"Not all rows are here, but only those of: {wanted}."


def _wanted(filters: Filters) -> Iterator[str]:
    if filters.split is not None:
        yield f"split {filters.split}"
    if filters.release is not None:
        yield f"publisher's release {filters.release}"
    if filters.subsets:
        yield f"subset {', '.join(filters.subsets)}"
    if filters.where is not None:
        yield f"where {filters.where}"


def _creators(cited: Iterable[Citation]) -> list[dict[str, Any]]:
    """Return the authors of all corpora, each once, in the order of their publications."""
    authors = dict.fromkeys(author for citation in cited for author in citation.authors)
    return [
        {"@type": "sc:Person", "name": f"{first} {family}", "givenName": first, "familyName": family}
        if first
        else {"@type": "sc:Organization", "name": family}
        for family, first in authors
    ]


_OPERATORS = {"AND", "OR", "WITH"}


def licences(parts: Iterable[LicencePart], corpora: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Return the licences of the parts, and of corpora that have none: each once, in their order."""
    parts = list(parts)
    of_parts = {part.corpus_id for part in parts}
    named = [licence for part in parts for licence in _of_part(part)]
    named += [_declared(corpus) for corpus in corpora if corpus["corpus_id"] not in of_parts]
    return [licence for index, licence in enumerate(named) if licence not in named[:index]]


def _of_part(part: LicencePart) -> Iterator[Any]:
    """Return the licences in a part's expression; where some of its terms are unknown, also what is said of that."""
    names = [name for name in re.findall(r"[\w.:+-]+", part.spdx or "") if name not in _OPERATORS]
    for name in names:
        if name.startswith("LicenseRef-"):
            yield _work(name, part.note, part.licence_url)
        else:
            yield f"https://spdx.org/licenses/{name}"
    if part.is_unknown and not any(name.startswith("LicenseRef-") for name in names):
        yield _work(f"{part.corpus_id}: not all terms are known", part.note, part.licence_url)


def _declared(corpus: Mapping[str, Any]) -> Any:
    if corpus["is_sample"]:
        return _work("Invented sample data of Talkhouse, under its licence", "", "https://spdx.org/licenses/Apache-2.0")
    return _work(corpus["licence"], corpus["terms"], corpus["licence_url"])


def _work(name: str, description: str, url: str | None) -> dict[str, Any]:
    properties = {"name": name, "description": description, "url": url}
    return {"@type": "sc:CreativeWork", **{key: value for key, value in properties.items() if value}}


_MAINTENANCE = (
    "Talkhouse makes it again from the publisher's files: a new build of changed files, then a new export. "
    "The publisher's files themselves are maintained by their publisher."
)


def _responsible_ai(package: ExportPackage, facts: Sequence[CorpusFacts]) -> dict[str, Any]:
    """Return the known properties; demographics are stated to be unpublished."""
    schemes, pseudonyms = [scheme for corpus in facts for scheme in corpus.schemes], package.about_pseudonyms
    known = {
        "dataCollection": " ".join(_collection(corpus) for corpus in facts),
        "dataAnnotationProtocol": [f"{scheme.scheme}: {scheme.description}" for scheme in schemes],
        "annotationsPerItem": "; ".join(map(_annotators, schemes)),
        "annotatorDemographics": ["not published"],
        "dataAnnotationAnalysis": [
            _agreement(scheme, agreement) for scheme in schemes for agreement in scheme.agreement
        ],
        "dataPreprocessingProtocol": list(_preprocessing(package.configs)),
        "personalSensitiveInformation": [pseudonyms["remark"]] if pseudonyms else [],
        "dataReleaseMaintenancePlan": _MAINTENANCE,
    }
    return {f"rai:{name}": value for name, value in known.items() if value}


def _collection(corpus: CorpusFacts) -> str:
    if corpus.is_sample:
        return f"{corpus.title}: invented for Talkhouse, in the form of the corpus."
    return f"{corpus.title}: {corpus.description} Described at {corpus.homepage}."


def _annotators(scheme: SchemeFacts) -> str:
    """Return the number of annotators of a unit: the usual number, and the range where there is one."""
    usual = f"{scheme.scheme}: {scheme.median_annotators}"
    if scheme.fewest_annotators == scheme.most_annotators:
        return usual
    return f"{usual} (median; {scheme.fewest_annotators} to {scheme.most_annotators})"


def _agreement(scheme: SchemeFacts, agreement: Agreement) -> str:
    release = f" in {agreement.release}" if agreement.release else ""
    alpha = agreement.krippendorff_alpha
    measured = "a single label occurs" if alpha is None else f"Krippendorff's alpha {alpha:.3f}"
    return (
        f"{scheme.scheme}{release}: {measured}, mean share of the majority {agreement.mean_majority_share:.3f}, "
        f"over {agreement.units} annotated units ({scheme.target})"
    )


def _preprocessing(configs: Iterable[Config]) -> Iterable[str]:
    """Yield what the views do with texts that are stored as they were published."""
    yield "Talkhouse stores texts as their publisher has them, to the character; what a view makes of them, it says."
    for config in configs:
        if config.comment:
            yield f"{config.selection.full_name}: {config.comment}"


def derived_from(files: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Describe the published files, each with its checksum, and its address where the publisher's is known."""
    return [
        {
            "@type": "prov:Entity",
            "name": file["source_file_id"],
            "contentSize": f"{file['bytes']} B",
            "sha256": file["sha256"],
            **({"url": file["url"]} if file["url"] else {}),
        }
        for file in files
    ]


_CONFORMS_TO = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]

_TERMS = toml_of(__file__, "context")

_CONTEXT: dict[str, Any] = {**_TERMS["context"], **{term: f"cr:{term}" for term in _TERMS["croissant"]["terms"]}}
