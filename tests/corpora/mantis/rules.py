"""The rules of MANtIS's tasks and files in plain Python, from their description; no code is shared with the reader."""

import copy
import csv
import io
from collections.abc import Callable
from typing import Any, NamedTuple

Talk = dict[str, Any]
Talks = dict[str, Talk]
"""The object of one file: dialogues by key."""

WINDOW = 11
LEFT_OUT = ("train", "10298")
"""The dialogue that the authors take out of intent prediction."""


def contexts(talk: Talk) -> list[tuple[int, list[str], str]]:
    """Response ranking: for each user utterance but the first, index of the response, context, response."""
    utterances = talk["utterances"]
    found = []
    for utterance in [row for row in utterances if row["actor_type"] == "user"][1:]:
        position = utterance["utterance_pos"]
        if position == len(utterances):
            break
        numbers = range(max(1, position - WINDOW + 1), position + 2)
        picked = [index for index, row in enumerate(utterances) if row["utterance_pos"] in numbers]
        if len(picked) > 1:
            *texts, response = [utterances[index]["utterance"] for index in picked]
            found.append((picked[-1], texts, response))
    return found


class Line(NamedTuple):
    """One row of a response-ranking file, and the key that its lookup has for it."""

    key: str
    turn_index: int
    label: int
    context: list[str]
    candidate: str


def lines(talks: Talks, negatives: Callable[[], list[str]]) -> list[Line]:
    """Return the rows of a split: each context with its response, then with the negatives drawn for it."""
    return [
        Line(key, turn_index, label, context, candidate)
        for key, talk in talks.items()
        for turn_index, context, response in contexts(talk)
        for label, candidate in [(1, response), *((0, negative) for negative in negatives())]
    ]


def tsv(rows: list[Line], newline: str = "\n") -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator=newline)
    writer.writerows([row.label, *row.context, row.candidate] for row in rows)
    return text.getvalue().encode()


def lookup(rows: list[Line], newline: str = "\n") -> bytes:
    return "".join(row.key + newline for row in rows).encode()


Intents = list[str] | None


def labelled(talks: Talks) -> dict[str, list[Intents]]:
    """Return the intents of every utterance of the dialogues that are marked as labelled, by key."""
    return {
        key: [utterance.get("intent") for utterance in talk["utterances"]]
        for key, talk in talks.items()
        if "has_intent_labels" in talk
    }


def intents(split: str, talks: Talks) -> list[tuple[str, int, str, list[str]]]:
    """Intent prediction: key, index, text and intents of each utterance; one that has none is left out."""
    return [
        (key, index, talks[key]["utterances"][index]["utterance"], some)
        for key, all_of_them in labelled(talks).items()
        for index, some in enumerate(all_of_them)
        if some is not None and (split, key) != LEFT_OUT
    ]


def merged(split: str, talks: Talks, rows: list[tuple[str, str, str, str]]) -> Talks:
    """Merge rows of the table of intents (conversation_id, comment_pos, annotations, allocation) into a split."""
    found = copy.deepcopy(talks)
    for key, position, annotations, allocation in rows:
        if allocation != split:
            continue
        talk = found[key]
        if "has_intent_labels" not in talk:
            talk["has_intent_labels"] = True
            talk["utterances"][0]["intent"] = ["OQ"]
        talk["utterances"][int(position) - 1]["intent"] = annotations.split(",")
    return found


def table(rows: list[tuple[str, str, str, str]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["conversation_id", "comment_pos", "annotations", "allocation"])
    writer.writerows(rows)
    return text.getvalue().encode()


def row_intents(keys: list[str], samples: int, rows_of_context: int, talks: Talks) -> list[tuple[Intents, Intents]]:
    """Return for each row the intents that the authors pair with it, as published and with rows counted per context."""
    known = labelled(talks)
    found, occurrence = [], 0
    for row, key in enumerate(keys):
        occurrence = occurrence + 1 if row and keys[row - 1] == key else 0
        of_talk = known.get(key, [])
        reference = 3 + 2 * (max(occurrence - 1, 0) // samples)
        found.append((_nth(of_talk, reference), _nth(of_talk, 3 + 2 * (occurrence // rows_of_context))))
    return found


def _nth(all_of_them: list[Intents], number: int) -> Intents:
    """Return the intents of an utterance by its number from 1; beyond the end the authors' code stops."""
    return all_of_them[number - 1] if number <= len(all_of_them) else None
