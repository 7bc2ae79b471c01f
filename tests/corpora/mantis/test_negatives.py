"""Response ranking is written as published, whatever the texts are, and a seed always gives the same negatives."""

import json
import math
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.corpora.mantis.make import sampler
from talkhouse.ingest.corpora.mantis.make.negatives import Conversation, best, postings, tokens
from talkhouse.ingest.corpora.mantis.make.sampler import TooFewTexts
from tests.conftest import invented_examples
from tests.corpora.mantis import rules
from tests.corpora.mantis.negatives import ENDS, SPLITS, Talks, blocks, contents, fixed, invent, write


def as_published(talk: Conversation) -> rules.Talk:
    utterances = [
        {"actor_type": role, "utterance": text, "utterance_pos": number}
        for number, (role, text) in enumerate(zip(talk.roles, talk.texts, strict=True), 1)
    ]
    return {"utterances": utterances}


def drawn_from(talks: Talks, category: str | None) -> list[str]:
    return [
        text
        for split in ("train", "dev")
        for talk in talks[split]
        if category in (None, talk.category)
        for role, text in zip(talk.roles, talk.texts, strict=True)
        if role == "agent"
    ]


def ranked(texts: list[str], query: list[str]) -> list[int]:
    """Rank documents by BM25 as gensim's description and constants have it, in plain Python."""
    bags = [tokens(text) for text in texts]
    mean = sum(map(len, bags)) / len(bags)
    having = {word: sum(word in bag for bag in bags) for bag in bags for word in bag}
    idf = {word: math.log(len(bags) - n + 0.5) - math.log(n + 0.5) for word, n in having.items()}
    replaced = 0.25 * sum(idf.values()) / len(idf)
    weight = {word: value if value >= 0 else replaced for word, value in idf.items()}

    def score(bag: list[str]) -> float:
        norm = 1.5 * (0.25 + 0.75 * len(bag) / mean)
        counts = [(word, bag.count(word)) for word in query]
        return sum(weight[word] * count * 2.5 / (count + norm) for word, count in counts if count)

    scores = [round(score(bag), 9) for bag in bags]
    return sorted(range(len(bags)), key=lambda at: (-scores[at], at))


@invented_examples(20)
@given(number=st.integers(0, 10**6))
def test_blocks_are_published_ones(number: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder, talks = tmp_path_factory.mktemp("made"), invent(number)
    rankings = write(folder, talks)
    for split, count in ((split, count) for split in SPLITS for count in ENDS):
        expected = [
            (talk, context, response)
            for talk in talks[split]
            for _, context, response in rules.contexts(as_published(talk))
        ]
        found = blocks(folder, split, count)
        assert [(block.key, block.context, block.response) for block in found] == [
            (talk.key, context, response) for talk, context, response in expected
        ]
        for block, (talk, _, response) in zip(found, expected, strict=True):
            assert len(set(block.negatives)) == count
            assert response not in block.negatives
            assert {*block.negatives} <= {*drawn_from(talks, talk.category if count == 10 else None)}
        assert rankings[count].splits[split].contexts == len(found)
        assert rankings[count].splits[split].rows == len(found) * (count + 1)


def test_negatives_come_from_the_best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "BEST", 14)
    talks = invent(3, dialogues=25)
    rankings = write(tmp_path, talks, negatives=(10,))
    extended = 0
    for split in SPLITS:
        category = {talk.key: talk.category for talk in talks[split]}
        for block in blocks(tmp_path, split, 10):
            texts = drawn_from(talks, category[block.key])
            order = [texts[at] for at in ranked(texts, tokens(block.response))]
            pool, others = ({*some} - {block.response} for some in (order[:14], order))
            if len(pool) < 10:
                extended += 1
                pool = {*list(dict.fromkeys(text for text in order if text in others))[:10]}
            assert {*block.negatives} <= pool
    assert 0 < extended == sum(written.extended for written in rankings[10].splits.values())


@invented_examples(100)
@given(bags=st.lists(st.lists(st.integers(0, 5), max_size=6), min_size=1, max_size=8))
def test_scores_are_those_of_the_formula(bags: list[list[int]]) -> None:
    flat = np.array([term for bag in bags for term in bag], np.int32)
    index = postings(flat, np.array([len(bag) for bag in bags]), 6)
    texts = [" ".join(f"w{term}" for term in bag) for bag in bags]
    for bag in bags if len(flat) else []:
        assert best(index.scores(bag).round(9), len(bags)).tolist() == ranked(texts, [f"w{term}" for term in bag])


@invented_examples(100)
@given(
    number=st.integers(0, 10**6),
    size=st.sampled_from([1, 7, 300, 5000]),
    count=st.integers(1, 400),
    sparse=st.sampled_from([0, 1, 50]),
)
def test_of_equal_scores_the_lower_position_is_better(number: int, size: int, count: int, sparse: int) -> None:
    values = Random(number).choices([0.0] * sparse + [0.5, 1.0, -1.0, 7.25, 9.0], k=size)  # noqa: S311 - invented data
    assert best(np.array(values), count).tolist() == sorted(range(size), key=lambda at: (-values[at], at))[:count]


MADE = "c09b933994ac0e4903abddf1dbb02e4f16dd7c0222b2688bf32fc1dbb14743c9"
"""Hash of the files that Python 3.11 made with numpy 2.4; other versions, machines and jobs make the same."""


@pytest.mark.slow
def test_a_seed_gives_the_same_bytes_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    talks = fixed()
    write(tmp_path / "here", talks)
    monkeypatch.setenv("PYTHONHASHSEED", "7")  # of the processes, not of this one
    write(tmp_path / "processes", talks, jobs=2)
    files = contents(tmp_path / "here")
    assert contents(tmp_path / "processes") == files
    assert sha256(b"".join(files.values())).hexdigest() == MADE
    write(tmp_path / "other", talks, seed=2)
    other = contents(tmp_path / "other")
    assert {name for name in files if files[name] != other[name]} == {name for name in files if name.endswith("v")}


def test_a_draw_depends_on_its_own_context_alone(tmp_path: Path) -> None:
    talks = invent(1)
    write(tmp_path / "all", talks, negatives=(50,))
    write(tmp_path / "fewer", talks | {"test": talks["test"][5:]}, negatives=(50,))
    left = [block for block in blocks(tmp_path / "all", "test", 50) if int(block.key) >= 5]
    assert blocks(tmp_path / "fewer", "test", 50) == left


def small(size: int, *, test: str) -> Talks:
    """Invent one site with so many texts, all different, and a response in test."""
    texts = [f"tram {number}" for number in range(size)]
    train = [Conversation(str(at), "diy", ["user", "agent"], ["q", text]) for at, text in enumerate(texts)]
    asked = Conversation("0", "diy", ["user", "agent"] * 2, ["q", "a", "more?", test])
    return {"train": train, "dev": [], "test": [asked]}


@pytest.mark.parametrize(("size", "response", "largest"), [(9, "else", 9), (10, "tram 3", 9), (0, "x", 0)])
def test_too_few_texts_stop_before_anything_is_written(size: int, response: str, largest: int, tmp_path: Path) -> None:
    with pytest.raises(TooFewTexts) as stopped:
        write(tmp_path, small(size, test=response), negatives=(10,))
    error = stopped.value
    assert (error.category, error.distinct_texts, error.negatives, error.largest) == ("diy", size, 10, largest)
    assert not contents(tmp_path)


def test_all_texts_together_may_be_too_few(tmp_path: Path) -> None:
    with pytest.raises(TooFewTexts, match=r"^all categories together have 50 texts; at most 49 negatives, not 50$"):
        write(tmp_path, small(50, test="tram 3"))
    assert not contents(tmp_path)


@pytest.mark.parametrize(("size", "response"), [(10, "else"), (11, "tram 3")])
def test_just_enough_texts_are_enough(size: int, response: str, tmp_path: Path) -> None:
    write(tmp_path, small(size, test=response), negatives=(10,))
    (block,) = blocks(tmp_path, "test", 10)
    assert {*block.negatives} == {f"tram {number}" for number in range(size)} - {response}


def test_the_category_with_the_fewest_texts_is_named(tmp_path: Path) -> None:
    talks = invent(1)
    talks["test"] += [
        talk._replace(category=f"site{size}") for size in (5, 3) for talk in small(size, test="x")["test"]
    ]
    talks["dev"] += [
        talk._replace(category=f"site{size}") for size in (5, 3) for talk in small(size, test="x")["train"]
    ]
    with pytest.raises(TooFewTexts) as stopped:
        write(tmp_path, talks)
    assert (stopped.value.category, stopped.value.largest) == ("site3", 3)
    assert not contents(tmp_path)


def test_without_contexts_files_are_empty(tmp_path: Path) -> None:
    write(tmp_path, {"train": [], "dev": [], "test": []})
    assert len(contents(tmp_path)) == 12
    assert not any(contents(tmp_path).values())


TEXTS = {
    "The trams, the TRAM's bus_stop; x2 3.5": ["trams", "tram", "bus", "stop", "x2", "3", "5"],
    'See <a href="https://example.org/7" rel="nofollow noreferrer">Zürich': ["see", "example", "org", "7", "zürich"],
    "… 🙂 — of the and!": [],
    "ΣΊΣΥΦΟΣ и Ёж 東京 ±": ["σίσυφος", "и", "ёж", "東京"],
}


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_are_words_in_lower_case_without_stop_words(text: str) -> None:
    assert tokens(text) == TEXTS[text]


# Response ranking compared with the authors' code and gensim 3; their outputs may be next to TALKHOUSE_DATA.

FOLDER = Path(os.environ.get("TALKHOUSE_DATA") or "no data").parent / "expected" / "builder"


def conversations(split: str) -> Iterator[Conversation]:
    talks = json.loads((FOLDER / "json" / f"merged_{split}.json").read_bytes())
    for key, talk in talks.items():
        turns = talk["utterances"]
        yield Conversation(
            key, talk["category"], *([turn[name] for turn in turns] for name in ("actor_type", "utterance"))
        )


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"there is no {FOLDER}: the reference programs' outputs")
def test_contexts_responses_and_lookups_are_those_of_the_authors(tmp_path: Path) -> None:
    write(tmp_path, {split: list(conversations(split)) for split in SPLITS})
    lookups = list(tmp_path.glob("*_lookup.txt"))
    tables = list(tmp_path.glob("*.tsv"))
    assert len(lookups) == len(tables) == 6
    for path in lookups:
        assert path.read_bytes() == (FOLDER / "json" / path.name).read_bytes()
    for path in tables:
        rows = path.read_bytes().splitlines(keepends=True)
        right = b"".join(row for row in rows if row.startswith(b"1\t"))
        assert right == (FOLDER / "json" / f"{path.stem}.label1.tsv").read_bytes()
        assert len(rows) == (tmp_path / f"{path.stem}_lookup.txt").read_bytes().count(b"\n")


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"there is no {FOLDER}: the reference programs' outputs")
def test_scores_are_those_of_gensim_to_the_last_bit() -> None:
    documents = [json.loads(line)["tokens"] for line in (FOLDER / "bm25" / "documents.jsonl").open(encoding="utf-8")]
    terms: dict[str, int] = {}
    flat = [terms.setdefault(word, len(terms)) for words in documents for word in words]
    index = postings(np.array(flat, np.int32), np.array([len(words) for words in documents]), len(terms))
    queries = [json.loads(line) for line in (FOLDER / "bm25" / "scores.jsonl").open(encoding="utf-8")]
    assert len(queries) == 40
    for query in queries:
        assert index.scores([terms[word] for word in documents[query["query"]]]).tolist() == query["scores"]
