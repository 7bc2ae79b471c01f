"""Licences as Croissant names them."""

from dataclasses import replace

from talkhouse.packages.croissant import licences
from talkhouse.query.terms import Part

PART = Part("toy", "all", "MIT", "https://toy.org/licence", True, False, False, False, "")
CORPUS = {"corpus_id": "toy", "is_sample": False, "licence": "Ask us", "terms": "", "licence_url": None}


def test_licences_of_spdx_are_addresses_each_once() -> None:
    parts = [PART, replace(PART, part="other"), replace(PART, part="third", spdx="(MIT OR Apache-2.0) AND CC0-1.0")]
    spdx = "https://spdx.org/licenses/"
    assert licences(parts, [CORPUS]) == [f"{spdx}MIT", f"{spdx}Apache-2.0", f"{spdx}CC0-1.0"]


def test_a_licence_of_its_own_is_a_work() -> None:
    part = replace(PART, spdx="CC-BY-4.0 AND LicenseRef-toy-research", is_unknown=True, note="Only for research.")
    assert licences([part], [CORPUS]) == [
        "https://spdx.org/licenses/CC-BY-4.0",
        {
            "@type": "sc:CreativeWork",
            "name": "LicenseRef-toy-research",
            "description": "Only for research.",
            "url": "https://toy.org/licence",
        },
    ]


def test_what_nobody_licensed_is_said() -> None:
    part = replace(PART, spdx=None, is_unknown=True, note="Nobody has said it.")
    (work,) = licences([part], [CORPUS])
    assert (work["name"], work["description"]) == ("toy: not all terms are known", "Nobody has said it.")


def test_a_corpus_without_terms_has_the_licence_that_its_publisher_names() -> None:
    assert licences([], [CORPUS]) == [{"@type": "sc:CreativeWork", "name": "Ask us"}]
    (of_a_sample,) = licences([], [{**CORPUS, "is_sample": True}])
    assert "Invented" in of_a_sample["name"]
