"""Response ranking compared with the authors' code and gensim 3; their outputs may be next to TALKHOUSE_DATA."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from talkhouse.ingest.corpora.mantis.make.negatives import Conversation, postings
from tests.corpora.mantis.negatives import SPLITS, write

FOLDER = Path(os.environ.get("TALKHOUSE_DATA") or "no data").parent / "expected" / "builder"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"there is no {FOLDER}: the reference programs' outputs")


def conversations(split: str) -> Iterator[Conversation]:
    talks = json.loads((FOLDER / "json" / f"merged_{split}.json").read_bytes())
    for key, talk in talks.items():
        turns = talk["utterances"]
        yield Conversation(
            key, talk["category"], *([turn[name] for turn in turns] for name in ("actor_type", "utterance"))
        )


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


def test_scores_are_those_of_gensim_to_the_last_bit() -> None:
    documents = [json.loads(line)["tokens"] for line in (FOLDER / "bm25" / "documents.jsonl").open(encoding="utf-8")]
    terms: dict[str, int] = {}
    flat = [terms.setdefault(word, len(terms)) for words in documents for word in words]
    index = postings(np.array(flat, np.int32), np.array([len(words) for words in documents]), len(terms))
    queries = [json.loads(line) for line in (FOLDER / "bm25" / "scores.jsonl").open(encoding="utf-8")]
    assert len(queries) == 40
    for query in queries:
        assert index.scores([terms[word] for word in documents[query["query"]]]).tolist() == query["scores"]
