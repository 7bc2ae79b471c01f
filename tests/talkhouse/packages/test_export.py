"""The files that describe a package: what licences ask, how its corpora are cited, what is in it, and from where."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
import yaml

from talkhouse.export.formats import Tool
from talkhouse.export.selection import Filters, select
from talkhouse.export.terms import LicencePart
from talkhouse.ingest.corpus import Source
from talkhouse.packages.chat import ChatOptions
from talkhouse.packages.content import Config, CorpusFacts, ExportPackage, SplitRows, known_facts
from talkhouse.packages.export import export_package, provenance, write_descriptions, write_manifest
from talkhouse.schema.errors import UsageError
from talkhouse.warehouse.opened import Warehouse, opened
from talkhouse.warehouse.readers import StoredFile
from tests.data_files import data_of
from tests.samples import RELEASES
from tests.talkhouse.leading_to_people import found_in, leading_to_people

TASK = f"{RELEASES}.breakdown_detection"
TERMS = (
    LicencePart(RELEASES, "dialogues", "MIT", None, True, False, False, False, ""),
    LicencePart(
        RELEASES, "background", "CC-BY-SA-4.0", "https://example.org/sa", True, True, False, False, "From elsewhere."
    ),
)


@pytest.fixture
def package(con: duckdb.DuckDBPyConnection) -> ExportPackage:
    warehouse = Warehouse(con)
    selection = select(warehouse, TASK, Filters(split="eval"))
    config = Config("breakdown_detection", selection, "A turn.", (SplitRows("eval", "eval", "test", 3),))
    corpora = [corpus for corpus in warehouse.corpora if corpus["corpus_id"] == RELEASES]
    return ExportPackage(warehouse, TASK, (config,), corpora, TERMS)


def test_what_describes_a_package(package: ExportPackage, tmp_path: Path) -> None:
    write_descriptions(package, tmp_path)
    text = (tmp_path / "LICENSE.md").read_text(encoding="utf-8")
    assert "- What you make of it must be under the same licence: CC-BY-SA-4.0.\n" in text
    assert text.endswith("\n")
    assert text.count("- Name the authors.\n") == 3  # together, and each part
    assert "commercial" not in text
    assert "Of several versions" not in text
    for line in (f"# Licences of {TASK}\n", "invented sample", "### Part: background\n", "<https://"):
        assert line in text
    for corpus in package.corpora:
        assert corpus["licence"] in text
        assert corpus["citation"] in text
    assert "Texts are as they were published, and so are the names in them." in text
    described = yaml.safe_load((tmp_path / "CITATION.cff").read_text(encoding="utf-8"))
    assert described["title"] == f"{TASK} of {package.corpora[0]['title']}"
    assert (tmp_path / "citation.bib").read_text(encoding="utf-8").startswith(f"@inproceedings{{{RELEASES},\n")


def test_of_several_versions_of_a_licence_the_latest_applies(package: ExportPackage, tmp_path: Path) -> None:
    older = replace(TERMS[1], part="context", spdx="CC-BY-SA-3.0")
    write_descriptions(replace(package, parts=(*TERMS, older)), tmp_path)
    text = (tmp_path / "LICENSE.md").read_text(encoding="utf-8")
    assert "- What you make of it must be under the same licence: CC-BY-SA-3.0, CC-BY-SA-4.0.\n" in text
    assert text.count("- Of several versions of a licence, the latest applies") == 1


def test_pseudonyms_and_the_lack_of_terms_are_said(package: ExportPackage, tmp_path: Path) -> None:
    hashed = replace(package, parts=(), pseudonyms="0123")
    write_descriptions(hashed, tmp_path)
    text = (tmp_path / "LICENSE.md").read_text(encoding="utf-8")
    assert hashed.about_pseudonyms
    assert hashed.about_pseudonyms["remark"] in text
    assert "Everything in this folder is invented" in text
    published = [{**corpus, "is_sample": False} for corpus in package.corpora]
    write_descriptions(replace(package, parts=(), corpora=published), tmp_path)
    assert "no terms are known" in (tmp_path / "LICENSE.md").read_text(encoding="utf-8")


def test_the_manifest_of_a_package(package: ExportPackage, tmp_path: Path) -> None:
    file = {"path": "data/x.parquet", "rows": 3, "bytes": 7, "sha256": "0" * 64}
    write_manifest(package, tmp_path, [file])
    described = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert described["files"] == [file]
    (config,) = described["configs"]
    assert (config["config"], config["name"], config["rows"]) == ("breakdown_detection", TASK, 3)
    assert (config["split"], config["view_fingerprints"][0]["split"], config["subsets"]) == ("eval", "eval", [])
    assert [part["part"] for part in described["corpora"][0]["licence_terms"]] == ["dialogues", "background"]
    assert described["corpora"][0]["authors"][0] == {"family": "Higashinaka", "given": "Ryuichiro"}
    assert described["build"]["load_id"] == package.warehouse.build["load_id"]
    assert described["pseudonyms"] is None
    before = (tmp_path / "manifest.json").read_bytes()
    write_manifest(package, tmp_path, [file])
    assert (tmp_path / "manifest.json").read_bytes() == before


def test_files_of_samples_are_not_the_publishers(package: ExportPackage) -> None:
    files = provenance(package)["files"]
    query = f"select source_file_id, size, sha256 from meta.source_files where corpus_id = '{RELEASES}'"
    rows = package.warehouse.con.execute(
        f"{query} and member is null and kind in ('read', 'archive') order by all"
    ).fetchall()
    assert [(file["source_file_id"], file["bytes"], file["sha256"]) for file in files] == rows
    assert rows
    assert {file["url"] for file in files} == {None}


def test_a_file_is_the_publishers_by_its_checksum_or_by_its_path() -> None:
    known = Source("known.zip", "https://example.org/known.zip", "1" * 64)
    unknown = Source("unknown.zip", "https://example.org/unknown.zip")
    sources = (unknown, known)

    def file(path: str, sha256: str) -> StoredFile:
        return StoredFile(f"tea/{path}", path, path, False, "archive", 1, sha256)

    assert file("renamed.zip", "1" * 64).published_as(sources) == known
    assert file("folder/unknown.zip", "2" * 64).published_as(sources) == unknown
    assert file("known.zip", "2" * 64).published_as(sources) is None
    assert file("notunknown.zip", "2" * 64).published_as(sources) is None


# Packages with pseudonyms: what leads to people is in none of their files.

ROLES = ("agent", "free", "guided", "main", "other", "participant", "system")


def texts_of(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if path.suffix == ".parquet":
            rows = duckdb.execute(f"select to_json(rows)::varchar from '{path}' as rows").fetchall()
            metadata = duckdb.execute(f"select decode(value) from parquet_kv_metadata('{path}')").fetchall()
            yield path, "\n".join(text for (text,) in rows + metadata)
        else:
            yield path, path.read_text(encoding="utf-8").encode("utf-8", "replace").decode()


@pytest.mark.slow
@pytest.mark.parametrize("tool", [tool for tool in Tool if tool not in (Tool.SUPERSET, Tool.DBT)])
def test_no_id_of_a_person_is_in_any_file_of_a_package(sample: Path, key: Path, tmp_path: Path, tool: Tool) -> None:
    with duckdb.connect(sample, read_only=True) as con:
        warehouse, secret = Warehouse(con), leading_to_people(con)
        for corpus_id in warehouse.corpus_ids:
            folder = tmp_path / corpus_id
            chats = ChatOptions(roles=dict.fromkeys(ROLES, "user")) if tool is Tool.CHAT else None
            export_package(warehouse, corpus_id, tool, folder, key_file=key, chats=chats)
            for path, text in texts_of(folder):
                assert found_in(text, secret) == set(), path
            assert "Texts are not touched" in (folder / "LICENSE.md").read_text()
            assert "Texts are not touched" in (folder / "manifest.json").read_text()
            assert key.read_bytes().hex() not in (folder / "manifest.json").read_text()


@pytest.mark.slow
def test_a_key_is_not_taken_from_the_folder_that_is_written(sample: Path, key: Path) -> None:
    with duckdb.connect(sample, read_only=True) as con, pytest.raises(UsageError):
        export_package(Warehouse(con), "main.turns", Tool.HUGGINGFACE, key.parent, key_file=key)
    assert [path.name for path in key.parent.iterdir()] == ["key"]


# What a warehouse knows of corpora for datasheets, compared with counts of the tables themselves.

_ANNOTATORS = data_of(__file__)["annotators"]

_COUNTS = """
select corpus_id, count(distinct dialogue_id), count(*), count(said_at), min(said_at), max(said_at)
from main.turns inner join main.dialogues using (dialogue_id) group by corpus_id order by corpus_id
"""

_FINDINGS = """
select corpus_id, rule, severity, count(*) from meta.findings where corpus_id is not null group by all order by all
"""


def _facts(sample: Path, *queries: str) -> tuple[list[CorpusFacts], list[list[tuple[object, ...]]]]:
    with opened(sample) as warehouse:
        facts = known_facts(warehouse, reversed(warehouse.corpus_ids))
        return facts, [warehouse.con.execute(query).fetchall() for query in queries]


def test_annotators_and_counts_are_those_of_the_tables(sample: Path) -> None:
    facts, (annotators, counts) = _facts(sample, _ANNOTATORS, _COUNTS)
    schemes = [scheme for corpus in facts for scheme in corpus.schemes]
    known = {scheme.scheme: (scheme.fewest_annotators, scheme.most_annotators, scheme.units) for scheme in schemes}
    # Numbers are labels too here, but not for this query.
    assert {(scheme, *known[str(scheme)]) for scheme, *_ in annotators} == set(annotators)
    assert all(each.fewest_annotators <= each.median_annotators <= each.most_annotators for each in schemes)
    names = ("corpus_id", "dialogue_count", "turn_count", "timed_turn_count", "first_said_at", "last_said_at")
    assert [tuple(getattr(each, name) for name in names) for each in facts] == counts


@pytest.mark.slow
def test_agreement_is_of_schemes_that_several_annotate(sample: Path) -> None:
    facts, (agreement, findings) = _facts(
        sample,
        "select scheme, release, unit_count from bi.scheme_agreement"
        # Of several releases each is told, and not what their default publications are together.
        " qualify release is not null or count(release) over (partition by scheme) = 0",
        _FINDINGS,
    )
    known = [
        (scheme.scheme, each.release, each.units)
        for corpus in facts
        for scheme in corpus.schemes
        for each in scheme.agreement
    ]
    assert known
    assert sorted(known, key=str) == sorted(agreement, key=str)
    assert [(corpus.corpus_id, *finding) for corpus in facts for finding in corpus.findings] == findings
