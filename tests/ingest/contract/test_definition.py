"""A declaration that is mistyped: the folder is named, and what is known instead."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from talkhouse.ingest.common_rules import Rule
from talkhouse.ingest.contract.definition import problems
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
from talkhouse.ingest.registry import corpora
from talkhouse.schema.errors import RegistryError

TOY = Corpus(
    id="toy",
    version=1,
    title="Toy",
    description="",
    homepage="https://example.org",
    licence="CC0-1.0",
    citation="Nobody",
    languages=("en", "ja", "pt-BR"),
    files="lines",
    splits={"dev": "validation", "all": None},
    schemes=(Scheme("toy.mood", "How it is.", "turn", {"+": "Well."}),),
    rules=(Rule("TOY-01", "warn", "Something is odd.", "Mend it."),),
    read=lambda _: iter(()),
    write=lambda _: iter(()),
)


def scheme(**changes: Any) -> tuple[Scheme, ...]:
    return (replace(TOY.schemes[0], **changes),)


def terms(**changes: Any) -> tuple[LicenceTerms, ...]:
    return (replace(LicenceTerms(), **changes),)


def rule(**changes: Any) -> tuple[Rule, ...]:
    return (replace(TOY.rules[0], **changes),)


def test_what_is_right_has_no_problem() -> None:
    assert list(problems(TOY)) == []
    for corpus in corpora().values():
        assert list(problems(corpus)) == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"version": "1"}, "version is a whole number, not '1'"),
        ({"licence": None}, "licence is a text, not None"),
        ({"homepage": "example.org"}, "homepage is an address that begins with https://, not 'example.org'"),
        ({"licence_url": "LICENSE"}, "licence_url is an address that begins with https://, not 'LICENSE'"),
        ({"languages": "en"}, "languages is a tuple of texts, with a comma behind a single one, not 'en'"),
        ({"languages": ("English",)}, "languages has 'English', which is no code of ISO 639, such as 'en'"),
        ({"has_record_per_file": "no"}, "has_record_per_file is True or False, not 'no'"),
        ({"write": None}, "write is a function, not None"),
        ({"write_record": "json"}, "write_record is a function or None, not 'json'"),
        ({"sources": Source("a.zip", "https://a")}, "sources is a tuple of Source, with a comma behind a single one"),
        ({"sources": (Source("a.zip", "ftp.a"),)}, "url of the source 'a.zip' is an address that begins"),
        ({"sources": (Source("a.zip", "https://a", "ABC"),)}, "sha256 of the source 'a.zip' is not 64 lower case"),
        ({"sources": (Source("a.zip", "https://a", holds="a"),)}, "holds of the source 'a.zip' is a tuple of texts"),
        ({"sources": (Source("a.zip", "https://a", size=0),)}, "size of the source 'a.zip' is a number of bytes"),
        ({"sources": (Source("../a.zip", "https://a"),)}, "path of the source '../a.zip' leads outside"),
        ({"sources": (Source("a.zip", "https://a"),) * 2}, "sources has 'a.zip' twice"),
        ({"splits": ("dev", "test")}, "splits is a mapping"),
        ({"splits": {"dev": "validaton"}}, "the standard name 'validaton', of 'dev'; one of: validation"),
        (
            {"schemes": scheme(kind="multilabel")},
            "kind of the scheme 'toy.mood' is one of: multi_label, single_label, structure or None, not 'multilabel'",
        ),
        ({"schemes": scheme(target="turns")}, "target of the scheme 'toy.mood' is one of: turn"),
        ({"schemes": scheme(name="other.mood")}, "the scheme 'other.mood' must begin with 'toy.'"),
        ({"schemes": scheme(name="toy.Mood")}, "the scheme 'toy.Mood' is not 'toy.' and lower case letters"),
        ({"schemes": scheme(labels=["+", "-"])}, "labels of the scheme 'toy.mood' is a mapping"),
        (
            {"schemes": scheme(labels={1: "One."})},
            "labels of the scheme 'toy.mood' is a mapping of texts, not {1: 'One.'}",
        ),
        ({"schemes": TOY.schemes * 2}, "schemes has 'toy.mood' twice"),
        ({"rules": rule(severity="reject_dialog")}, "severity of the rule 'TOY-01' is one of: reject_dialogue"),
        ({"rules": rule(id="toy1")}, "the rule 'toy1' is not capital letters, '-' and a number"),
        ({"rules": rule(id="TH-01")}, "the rule 'TH-01' is one of the common rules"),
        ({"rules": TOY.rules * 2}, "rules has 'TOY-01' twice"),
        ({"common_rules": "TH-01"}, "common_rules is a tuple of texts"),
        ({"common_rules": ("TH-99",)}, "common_rules has 'TH-99'; one of: TH-0"),
        (
            {"exceptions": (Exempt("labels_are_declared", "", "So."),)},
            "scope of the exempt 'labels_are_declared' is empty",
        ),
        ({"releases": (Release("v1", "", "The first."),)}, "title of the release 'v1' is empty"),
        ({"releases": (Release("v1", "first", "It."),) * 2}, "releases has 'v1' twice"),
        ({"datasheet": {"uses": "none"}}, "datasheet is a Datasheet or None, not {'uses': 'none'}"),
        ({"datasheet": Datasheet(quirks="one")}, "quirks of the datasheet is a tuple of texts"),
        ({"datasheet": Datasheet(uses=("one",))}, "uses of the datasheet is a text, not ('one',)"),
        ({"licence_terms": LicenceTerms()}, "licence_terms is a tuple of LicenceTerms, with a comma behind a single"),
        ({"licence_terms": terms(part="")}, "part of the licence terms '' is empty"),
        ({"licence_terms": terms(spdx="CC BY 4.0")}, "have the spdx 'CC BY 4.0', which is no expression of SPDX"),
        ({"licence_terms": terms(spdx=4)}, "spdx of the licence terms 'all' is a text or None, not 4"),
        ({"licence_terms": terms(columns=("mood.text",))}, "have the column 'mood.text', not schema.view.column or"),
        ({"licence_terms": terms(said_from="8 April 2011")}, "have a day such as '2011-04-08', not '8 April 2011'"),
        ({"licence_terms": terms(said_before="2011-02-30")}, "have a day such as '2011-04-08', not '2011-02-30'"),
        ({"licence_terms": terms(licence_url="LICENSE")}, "licence_url of the licence terms 'all'"),
        (
            {"licence_terms": terms(is_unknown="yes")},
            "is_unknown of the licence terms 'all' is True or False, not 'yes'",
        ),
        ({"licence_terms": (LicenceTerms(), LicenceTerms())}, "licence_terms has 'all' twice"),
        ({"people": ("ann",)}, "people is a People or None, not ('ann',)"),
        ({"people": People(members=("a b",))}, "members of the people has 'a b', which is no name"),
        ({"people": People(note=None)}, "note of the people is a text, not None"),  # type: ignore[arg-type]
        ({"authors": ("Ann Lee",)}, "authors is a tuple of Author, with a comma behind a single one"),
        ({"authors": (Author(""),)}, "family of the author '' is empty"),
        ({"year": 26}, "year is a year of four digits, not 26"),
        ({"year": "2026"}, "year is a whole number or None, not '2026'"),
        ({"reference": "A paper."}, "reference is a Reference or None, not 'A paper.'"),
        ({"reference": Reference(title="A", url="there")}, "url of the reference is an address that begins"),
        ({"id": "Toy"}, "an id is lower case letters"),
    ],
)
def test_what_is_mistyped_is_told(changes: dict[str, Any], problem: str) -> None:
    (first, *_) = problems(replace(TOY, **changes))
    assert problem in first


def test_a_rule_of_another_corpus_is_refused(tmp_path: Path) -> None:
    declared = (
        "from talkhouse.ingest.common_rules import Rule\nfrom talkhouse.ingest.corpus import Corpus\n"
        "CORPUS = Corpus(id={id!r}, version=1, title='', description='', homepage='', licence='', citation='',\n"
        "    languages=(), files='', read=lambda files: iter(()), write=lambda records: iter(()),\n"
        "    rules=(Rule('TT-01', 'warn', '', ''),))\n"
    )
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(declared.format(id=name), encoding="utf-8")
    with pytest.raises(RegistryError, match="the corpus 'one' has a rule 'TT-01' too") as caught:
        dict(corpora([tmp_path]))
    assert "the corpus folder 'two' is broken" in str(caught.value)
