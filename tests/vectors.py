"""Invented vectors for the turns of a warehouse."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

import talkhouse

SIZE = 12
"""Numbers of a vector."""

Keys = list[tuple[str, int]]


def turns_of(path: Path) -> Keys:
    """Return the turns of a warehouse in their order."""
    with talkhouse.open(path) as con:
        return con.execute("select dialogue_id, turn_index from main.turns order by all").fetchall()


def invented(keys: Keys) -> pl.DataFrame:
    """Invent a vector for each turn, of any length; the same each time."""
    random = np.random.default_rng(7)
    vectors = random.standard_normal((len(keys), SIZE)) * random.uniform(0.1, 9, (len(keys), 1)) + 0.5
    return pl.DataFrame(
        {"dialogue_id": [id_ for id_, _ in keys], "turn_index": [turn for _, turn in keys], "vector": vectors.tolist()}
    )


WORDS = ("[UNK]", "museum", "a", "small", "train", "river", "the", "is")


def save_model(folder: Path, words: Sequence[str] = WORDS) -> None:
    """Save a model of a few words, with vectors that are invented."""
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token=words[0]))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    vectors = np.random.default_rng(len(words)).standard_normal((len(words), 8)).astype(np.float32)
    StaticModel(vectors, tokenizer).save_pretrained(folder)
