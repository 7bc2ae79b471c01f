"""Citations in every format: those of the corpora that come with Talkhouse, and of corpora with the oddest names."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.citation import formats
from talkhouse.citation.work import TITLE, Citation, citations, software
from talkhouse.warehouse.opened import Warehouse
from tests import outside
from tests.conftest import invented_builds, invented_examples
from tests.talkhouse.citation import invented

ROOT = Path(__file__).parents[3]
GOLDEN = Path(__file__).parent / "golden"
FIELD = re.compile(r"  (\w+) = \{(.*)\},")


@pytest.fixture(scope="module")
def own(opened: duckdb.DuckDBPyConnection) -> list[Citation]:
    """What to cite for the corpora of the sample."""
    warehouse = Warehouse(opened)
    return citations(opened, warehouse.database, warehouse.corpus_ids)


def written(cited: list[Citation]) -> dict[str, str]:
    return {
        "citation.bib": formats.bibtex(cited),
        "citation.json": formats.csl(cited),
        "citation.txt": formats.text(cited),
        "CITATION.cff": formats.cff("Dialogues", cited),
    }


def test_the_corpora_are_cited_as_their_papers_are(own: list[Citation], regen: bool) -> None:
    for name, text in written(own).items():
        if regen:
            (GOLDEN / name).write_text(text, encoding="utf-8", newline="\n")
        assert (GOLDEN / name).read_bytes() == text.encode()


def entries(text: str) -> dict[str, dict[str, str]]:
    """Read BibTeX as it is written here, a field a line; the values as they stand between their braces."""
    found: dict[str, dict[str, str]] = {}
    for block in text.removesuffix("}\n").split("\n}\n\n"):
        head, *lines = block.removesuffix("\n").split("\n")
        kind, key = head.removeprefix("@").removesuffix(",").split("{")
        fields = [FIELD.fullmatch(line) for line in lines]
        assert all(fields), block
        found[key] = {"kind": kind, **{field[1]: field[2] for field in fields if field}}
    return found


def balanced(text: str) -> bool:
    depth = 0
    for sign in text:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if depth < 0:
            return False
    return depth == 0


@given(invented.citations)
@invented_examples(25)
def test_bibtex_says_what_is_declared_whatever_it_is(cited: list[Citation]) -> None:
    found = entries(formats.bibtex(cited))
    assert list(found) == [citation.corpus_id for citation in cited]
    for citation, entry in zip(cited, found.values(), strict=True):
        assert all(balanced(value) for value in entry.values())
        assert entry["title"][0] + entry["title"][-1] == "{}"
        assert invented.shown(entry["title"][1:-1]) == citation.work_title
        assert invented.shown(entry.get("note", "")) == citation.note
        assert not re.search(r"[^!-~]|[{}\\]", entry.get("url", "") + entry.get("doi", ""))


@given(invented.citations)
@invented_examples(25)
def test_the_other_formats_say_it_too(cited: list[Citation]) -> None:
    assert [item["title"] for item in json.loads(formats.csl(cited))] == [citation.work_title for citation in cited]
    assert len(formats.text(cited).split("\n")) == len(cited) + 1
    described = yaml.safe_load(formats.cff("Odd", cited))
    assert [reference["title"] for reference in described["references"]] == [work.work_title for work in cited]
    assert len(described["authors"]) == len({str(author) for author in described["authors"]}) > 0


def corpus(**facts: Any) -> Citation:
    return Citation.from_corpus({"corpus_id": "tea", "title": "Tea Time", **facts})


def test_a_corpus_without_structured_citation_is_cited_by_its_sentence() -> None:
    cited = corpus(citation="Nobody (2026):\n  Tea & Time.", homepage="https://example.org/a_b?c=50%25")
    assert formats.bibtex([cited]) == (
        "@misc{tea,\n  title = {{Tea Time}},\n  url = {https://example.org/a_b?c=50%25},\n"
        "  note = {Nobody (2026): Tea \\& Time.},\n}\n"
    )
    assert json.loads(formats.csl([cited])) == [
        {"id": "tea", "type": "dataset", "title": "Tea Time", "URL": "https://example.org/a_b?c=50%25",
         "note": "Nobody (2026): Tea & Time."}
    ]  # fmt: skip
    assert formats.text([cited]) == "Nobody (2026): Tea & Time. https://example.org/a_b?c=50%25\n"
    assert yaml.safe_load(formats.cff("Tea", [cited]))["authors"] == [{"name": "the authors of Tea Time"}]


def test_an_author_without_given_name_is_an_organisation() -> None:
    reference = {"kind": "misc", "title": "Brewing and Waiting"}
    authors = [{"family": "Kettle and Sons", "given": ""}, {"family": "van der Tee", "given": "Ann-Marie J."}]
    cited = corpus(authors=authors, year=2026, reference=reference)
    assert "  author = {{Kettle and Sons} and van der Tee, Ann-Marie J.},\n" in formats.bibtex([cited])
    assert json.loads(formats.csl([cited]))[0]["author"] == [
        {"literal": "Kettle and Sons"},
        {"family": "van der Tee", "given": "Ann-Marie J."},
    ]
    assert formats.text([cited]) == "Kettle and Sons and Ann-Marie J. van der Tee (2026). Brewing and Waiting.\n"


ENTRY = r"""@Article{tea26,
  author = "Kettle, Ann and {Tea {\"o} Sons}",
  title = {Tea {"} \& Time},
  month = may, year = 2026
}"""


def test_a_citation_that_is_bibtex_stays_as_it_is() -> None:
    assert formats.bibtex([corpus(citation=f"\n{ENTRY} \n"), corpus()]).startswith(f"{ENTRY}\n\n@misc{{tea,")


@pytest.mark.parametrize(
    "text",
    [
        *(ENTRY[:-2], f"{ENTRY}}}", f"See {ENTRY}", f"{ENTRY}\n{ENTRY}", ENTRY.replace("tea26,", ","), "@misc{a, b}"),
        *("@comment{a, b = {c}}", "@misc{a, b = {@misc{c, }}}", "@misc{a, b = c}", '@misc{a, b = "}"}', "@misc{a}", ""),
    ],
)
def test_what_is_no_whole_entry_is_a_note(text: str) -> None:
    (entry,) = entries(formats.bibtex([corpus(citation=text)])).values()
    assert invented.shown(entry.get("note", "")) == " ".join(text.split())


def test_nothing_is_something_too() -> None:
    assert formats.bibtex([corpus()]) == "@misc{tea,\n  title = {{Tea Time}},\n}\n"
    assert formats.text([corpus()]) == "Tea Time.\n"


def test_talkhouse_names_its_build(con: duckdb.DuckDBPyConnection) -> None:
    build = Warehouse(con).build
    cited = software(build)
    assert build["schema_revision"] in cited.sentence
    assert build["catalogue_hash"][:12] in cited.sentence
    assert entries(formats.bibtex([cited]))["talkhouse"]["note"] == cited.sentence
    assert json.loads(formats.csl([cited]))[0]["type"] == "software"


def test_the_repository_says_how_it_is_cited() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    described = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert described["version"] == project["version"]
    assert (described["license"], described["keywords"]) == (project["license"], project["keywords"])
    assert (described["title"], described["type"]) == (TITLE, "software")


READ_BIBTEX = """
import json, sys
import bibtexparser
from pybtex.database import parse_string

def parts(person):
    names = (person.prelast_names + person.last_names, person.first_names + person.middle_names, person.lineage_names)
    return [" ".join(name) for name in names]

text = sys.stdin.read()
read = bibtexparser.parse_string(text)
assert not read.failed_blocks, read.failed_blocks
entries = {
    key: {"names": [parts(person) for person in entry.persons.get("author", [])], **entry.fields}
    for key, entry in parse_string(text, "bibtex").entries.items()
}
other = {entry.key: {field.key: field.value for field in entry.fields} for entry in read.entries}
print(json.dumps([entries, other]))
"""


@pytest.mark.packages
def test_libraries_read_an_entry_that_stays_as_it_is(tmp_path: Path) -> None:
    command = ["uv", "run", "--no-project", "--with", "pybtex==0.26.1", "--with", "bibtexparser==2.1.0", "python", "-c"]
    cited = [corpus(citation=ENTRY), corpus()]
    read = json.loads(outside.run([*command, READ_BIBTEX], tmp_path, formats.bibtex(cited)))
    assert [[*each] for each in read] == [["tea26", "tea"]] * 2


@pytest.mark.packages
@given(invented.citations)
@invented_builds(12)
def test_libraries_read_the_bibtex(tmp_path_factory: pytest.TempPathFactory, cited: list[Citation]) -> None:
    command = ["uv", "run", "--no-project", "--with", "pybtex==0.26.1", "--with", "bibtexparser==2.1.0", "python", "-c"]
    folder = tmp_path_factory.getbasetemp()
    by_pybtex, by_bibtexparser = json.loads(outside.run([*command, READ_BIBTEX], folder, formats.bibtex(cited)))
    assert len(by_pybtex) == len(by_bibtexparser) == len(cited)
    for citation in cited:
        entry = by_bibtexparser[citation.corpus_id]
        assert invented.shown(entry["title"][1:-1]) == citation.work_title
        assert invented.shown(entry.get("note", "")) == citation.note
        names = [
            (bare(family), bare(first), lineage) for family, first, lineage in by_pybtex[citation.corpus_id]["names"]
        ]
        # It takes all blanks of Unicode for one.
        assert names == [(*(re.sub(r"\s+", " ", part).strip() for part in author), "") for author in citation.authors]


def bare(part: str) -> str:
    """Return a part of a name without the braces that keep it whole."""
    return invented.shown(part[1:-1] if re.fullmatch(r"\{(?!\\text[a-z]+\}|@\}).*\}", part) else part)


READ_WITH_PANDOC = """
import json, sys, pypandoc
bibtex, csl = json.load(sys.stdin)
print(json.dumps([json.loads(pypandoc.convert_text(bibtex, "csljson", format="bibtex")),
                  json.loads(pypandoc.convert_text(csl, "csljson", format="csljson"))]))
"""


@pytest.mark.packages
def test_pandoc_reads_both_formats(own: list[Citation], tmp_path: Path) -> None:
    command = ["uv", "run", "--no-project", "--with", "pypandoc-binary==1.17", "python", "-c"]
    given_texts = json.dumps([formats.bibtex(own), formats.csl(own)])
    for items in json.loads(outside.run([*command, READ_WITH_PANDOC], tmp_path, given_texts)):
        for citation, item in zip(own, items, strict=True):
            assert item["id"] == citation.corpus_id
            assert [(author["family"], author["given"]) for author in item["author"]] == [*citation.authors]
            assert item["issued"]["date-parts"] == [[citation.year]]
            assert item.get("DOI", "") == citation.of_reference("doi")
            assert re.sub("</?span[^>]*>|[\u2018\u2019]", "'", item["title"]).strip("'") == citation.work_title


VALIDATE = """
import json, sys
from cffconvert import Citation
for text in json.load(sys.stdin):
    Citation(text).validate()
"""


@pytest.mark.packages
@given(st.lists(invented.citations, min_size=5, max_size=10))
@invented_builds(2)
def test_citation_files_are_valid(tmp_path_factory: pytest.TempPathFactory, cited: list[list[Citation]]) -> None:
    texts = [formats.cff(each[0].title, each) for each in cited] + [(ROOT / "CITATION.cff").read_text(encoding="utf-8")]
    command = ["uv", "run", "--no-project", "--with", "cffconvert==2.0.0", "python", "-c"]
    outside.run([*command, VALIDATE], tmp_path_factory.getbasetemp(), json.dumps(texts))
