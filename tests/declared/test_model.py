"""Which files a pattern fits: as a regular expression of the same meaning does, but in linear time."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration import read_declaration
from talkhouse.ingest.declared.declaration.model import matches, pattern_problem, which
from talkhouse.schema.errors import RegistryError

PARTS = st.sampled_from(["**", "*", "a*", "*a", "a*b*a", "*.a", "a", "ab", "a.a", "b"])
NAMES = st.sampled_from(["a", "b", "ab", "aba", "abba", "a.a", "b.a", ".a", "aa", "[a]"])


def as_expression(pattern: str) -> str:
    pieces = []
    for part in pattern.split("/"):
        pieces.append("(?:[^/]+/)*" if part == "**" else re.escape(part).replace(r"\*", "[^/]*") + "/")
    return "".join(pieces[:-1]) + (".+" if pattern.rsplit("/", 1)[-1] == "**" else pieces[-1].removesuffix("/"))


@settings(max_examples=60)
@given(st.lists(PARTS, min_size=1, max_size=5), st.lists(NAMES, min_size=1, max_size=5))
def test_a_pattern_fits_what_its_expression_fits(parts: list[str], names: list[str]) -> None:
    pattern, path = "/".join(parts), "/".join(names)
    assert pattern_problem(pattern) is None
    assert matches(pattern, path) == (re.fullmatch(as_expression(pattern), path) is not None)


@settings(max_examples=30)
@given(st.text(alphabet="a*?[]/", max_size=6), st.text(alphabet="a*?[]/", max_size=6))
def test_a_path_fits_itself_and_without_a_star_no_other(path: str, other: str) -> None:
    assert "**" in path or matches(path, path)
    assert "*" in path or matches(path, other) == (path == other)


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("*.jsonl", ["a.jsonl", ".jsonl"], ["b/a.jsonl", "a.jsonl.gz", "A.JSONL"]),
        ("**/*.jsonl", ["a.jsonl", "b/c.zip/a.jsonl"], ["a.json"]),
        ("data/**", ["data/a", "data/b/c"], ["data", "database/a"]),
        ("log [1].json", ["log [1].json"], ["log 1.json"]),
        ("a?.csv", ["a?.csv"], ["ab.csv"]),
    ],
)
def test_a_star_stays_within_a_name(pattern: str, fitting: list[str], others: list[str]) -> None:
    assert [path for path in [*fitting, *others] if matches(pattern, path)] == fitting


def test_no_pattern_takes_exponential_time() -> None:
    assert not matches("/".join(["**", "*a*a*a*a*a*b"] * 40), "/".join(["a" * 1_000] * 100))


def test_a_file_is_in_one_pattern_or_the_lines_of_two_are_named() -> None:
    text = (
        'title = "T"\nformat = "chat"\n[[files]]\npath = "*.jsonl"\n[[files]]\nskip = "old"\npath = "old/*"\n'
        '[[files]]\npath = "a.*"\n'
    )
    declaration = read_declaration("ferry_talk", text, "ferry_talk/corpus.toml")
    assert which(declaration, "b.jsonl") == declaration.files[0]
    assert which(declaration, "old/b") == declaration.files[1]
    assert which(declaration, "notes.txt") is None
    with pytest.raises(RegistryError, match=r"corpus\.toml:9: .*\n.*\n.*'\*\.jsonl' \(.*:4\).*'a\.\*' \(.*:9\)"):
        which(declaration, "a.jsonl")
