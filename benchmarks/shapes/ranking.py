"""Invented response rankings as MANtIS publishes them, with their conversations: 310 kB of TSV a dialogue."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.shapes.mantis import dialogues

NEGATIVES = 50
"""Wrong responses for each right one."""

_WINDOW = 11


def write_folder(folder: Path, count: int) -> float:
    """Write conversations, TSV and lookup file of the train split; return the megabytes of the TSV."""
    folder.mkdir()
    talks = list(dialogues(count, seed=1))
    (folder / "merged_train.json").write_text(json.dumps(dict(enumerate(talks))), encoding="utf-8")
    texts = [[one["utterance"] for one in talk["utterances"]] for talk in talks]
    answers = [_cell(text) for talk in texts for text in talk[1::2]]
    choose = random.Random(2)
    with (
        (folder / "data_train.tsv").open("w", encoding="utf-8", newline="") as rows,
        (folder / "data_train_lookup.txt").open("w", encoding="utf-8", newline="") as keys,
    ):
        for key, talk in enumerate(talks):
            for context, response in _contexts(talk, texts[key]):
                words = "\t".join(map(_cell, context))
                rows.write(f"1\t{words}\t{_cell(response)}\n")
                rows.writelines(f"0\t{words}\t{wrong}\n" for wrong in choose.sample(answers, NEGATIVES))
                keys.write(f"{key}\n" * (NEGATIVES + 1))
    return (folder / "data_train.tsv").stat().st_size / 1e6


def _contexts(talk: dict[str, Any], texts: list[str]) -> Iterator[tuple[list[str], str]]:
    """Return each context with its right response, as the corpus's authors choose them."""
    users = [index for index, one in enumerate(talk["utterances"]) if one["actor_type"] == "user"]
    for index in users[1:]:
        if index + 1 < len(texts):
            yield texts[max(0, index + 1 - _WINDOW) : index + 1], texts[index + 1]


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if '"' in text else text
