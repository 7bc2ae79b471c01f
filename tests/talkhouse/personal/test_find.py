"""What the search for personal data finds, on two labelled samples; who wrote the search had seen one of them."""

import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.personal.find import candidate_pattern, find
from talkhouse.personal.redact import marks, moved
from tests.data_files import data_of

_MARKED = re.compile(r"\[\[(\w+):(.*?)\]\]", re.DOTALL)

LEAST = {
    name: {kind: (float(recall), float(precision)) for kind, recall, precision in map(str.split, lines)}
    for name, lines in {
        "sample_tuned_on": ["email 1 1", "account 1 1", "card 1 1", "ip 1 1", "phone 0.97 1", "name 0.93 1"],
        "sample_held_out": ["email 1 1", "account 1 1", "card 1 1", "ip 1 0.85", "phone 0.97 0.9", "name 0.94 0.79"],
    }.items()
}
"""For each sample and kind the least recall and precision; docs/personal-data.md has those of the second."""


class Labelled(NamedTuple):
    text: str
    language: str
    spans: set[tuple[str, int, int]]


def labelled(entry: dict[str, str]) -> Labelled:
    """Take the marks out of a text of a sample."""
    text, place, spans = "", 0, set()
    for match in _MARKED.finditer(entry["text"]):
        text += entry["text"][place : match.start()]
        kind = "account" if match[1] == "iban" else match[1]
        spans.add((kind, len(text), len(text) + len(match[2])))
        text, place = text + match[2], match.end()
    return Labelled(text + entry["text"][place:], entry["language"], spans)


def sample(name: str) -> list[Labelled]:
    return [labelled(entry) for entry in data_of(str(Path(__file__).with_name(f"{name}.toml")))["texts"]]


@pytest.mark.parametrize("name", LEAST)
def test_recall_and_precision_on_labelled_texts(name: str) -> None:
    right, missed, wrong = Counter[str](), Counter[str](), Counter[str]()
    for text, language, spans in sample(name):
        found = {(str(kind), start, end) for kind, start, end in find(text, language)}
        for kind, start, end in spans:
            is_found = any(kind == other and first < end and start < last for other, first, last in found)
            (right if is_found else missed)[kind] += 1
        for kind, start, end in found:
            wrong[kind] += not any(kind == other and first < end and start < last for other, first, last in spans)
    reached = {
        kind: (right[kind] / (right[kind] + missed[kind]), right[kind] / (right[kind] + wrong[kind])) for kind in right
    }
    assert reached.keys() == LEAST[name].keys()
    for kind, least in LEAST[name].items():
        assert reached[kind][0] >= least[0], (kind, reached[kind])
        assert reached[kind][1] >= least[1], (kind, reached[kind])


def test_nothing_is_found_in_a_text_that_duckdb_leaves_out() -> None:
    for name in LEAST:
        texts = [(text, language) for text, language, _ in sample(name)]
        query = "select regexp_matches(unnest($texts), $pattern)"
        values: dict[str, Any] = {"texts": [text for text, _ in texts], "pattern": candidate_pattern()}
        for (text, language), (may_have,) in zip(texts, duckdb.execute(query, values).fetchall(), strict=True):
            assert may_have or not find(text, language), text


PIECES = ("ida@harbour.example", "+44 7700 900123", "4111 1111 1111 1111", "203.0.113.9", "DE89 3704 0044 0532 0130 00")


@given(st.lists(st.sampled_from((*PIECES, "and", "berth", "7", "at", "Hi Wanda,", "\n", "né")), max_size=12), st.data())
def test_marks_move_places_with_the_words_around_them(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    found = find(text)
    ends = [place for _, start, end in found for place in (start, end)]
    assert ends == sorted(ends)
    marked = marks(text, found)
    assert not any(piece in marked for piece in PIECES)
    place = data.draw(st.integers(0, len(text)))
    is_within = any(start < place < end for _, start, end in found)
    for is_end in (False, True):
        there = moved(place, found, is_end=is_end)
        assert 0 <= there <= len(marked)
        before = [item for item in found if item.end <= place]
        if not is_within:
            assert marked[:there] == marks(text[:place], before)
        else:
            assert marked[there:].startswith("<") is not is_end
