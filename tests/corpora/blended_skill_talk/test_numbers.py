"""Blended Skill Talk: what its page says, computed again from the episodes as they are published."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.corpora.conftest import Published
from tests.corpora.shown import close, headlines, metric_rows

SPLITS = ("train", "valid", "test")
ROLES = ("free", "guided")
WORD = re.compile(r"[^\W\d_]{5,}")


MODES = {
    "knowledge": "knowledge",
    "empathy": "empathy",
    "personal_situations": "situations",
    "personal_background": "personal_background",
}
"""The mode of a label, with its field in human_annotations.json."""


class Answer(NamedTuple):
    """What a guided worker answered: the model whose suggestion that is, and the model that stood first, if known."""

    context: str
    model: str
    first: str


class Worker(NamedTuple):
    """A worker of an episode: the longer words of the persona, and which of them the worker says."""

    context: str
    role: str
    words: set[str]
    used: set[str]


def episodes(folder: Path) -> list[tuple[str, Any]]:
    paths = [(split, folder / f"{split}.json") for split in SPLITS]
    return [(split, item) for split, path in paths if path.exists() for item in json.loads(path.read_text("utf-8"))]


def answers(every: list[tuple[str, Any]]) -> Iterator[Answer]:
    for _, episode in every:
        for index in range(1, len(episode["dialog"]), 2):
            model = episode["chosen_suggestions"][index].strip() or "none"
            yield Answer(episode["context_dataset"], model, episode["suggestion_orders"][index].split(",")[0])


def words(texts: list[str]) -> set[str]:
    return {word for text in texts for word in WORD.findall(text.lower())}


def workers(every: list[tuple[str, Any]]) -> Iterator[Worker]:
    for _, episode in every:
        texts = [text for _, text in episode["dialog"]]
        for at, role in enumerate(ROLES):
            persona = words(episode["personas"][at])
            yield Worker(episode["context_dataset"], role, persona, persona & words(texts[at::2]))


def annotated(folder: Path) -> list[dict[str, Any]]:
    path = folder / "human_annotations.json"
    return json.loads(path.read_text("utf-8"))["data"] if path.exists() else []


def share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def test_headlines_say_what_the_episodes_have(published: Published) -> None:
    every = episodes(published.folder)
    taking, sharing, saying, seeing = headlines(published.con, "blended_skill_talk")

    chosen = list(answers(every))
    taken = Counter(answer.model for answer in chosen if answer.model != "none")
    if taken:
        model = min(taken, key=lambda name: (-taken[name], name))
        assert taking == close({"share": taken.total() / len(chosen), "model": model})
    else:
        assert taking is None

    of_split = {
        split: [{text for texts in episode["personas"] for text in texts} for name, episode in every if name == split]
        for split in ("train", "test")
    }
    known = {text for texts in of_split["train"] for text in texts}
    if known and of_split["test"]:
        shared = sum(bool(texts & known) for texts in of_split["test"])
        expected = {"split": "test", "other_split": "train", "share": shared / len(of_split["test"])}
        assert sharing == close(expected)
    else:
        assert sharing is None

    people = list(workers(every))
    most = max(len(worker.used) for worker in people)
    if most > 1:
        assert saying
        whole = sum(len(worker.words) for worker in people)
        assert saying["share"] == close(sum(len(worker.used) for worker in people) / whole)
        assert saying["count"] == most
    else:
        assert saying is None

    skills = [sum(row[name] for name in MODES.values()) for row in annotated(published.folder)]
    none, several = sum(count == 0 for count in skills), sum(count > 1 for count in skills)
    expected = {"count": len(skills), "none": none / len(skills), "several": several / len(skills)} if skills else None
    assert seeing == close(expected)


def test_skills_are_those_of_the_annotated_rows(published: Published) -> None:
    rows, view = annotated(published.folder), "blended_skill_talk_skills"
    found = metric_rows(published.con, view, ["seen_count", "seen_share"], "mode")
    seen = {mode: sum(row[name] for row in rows) for mode, name in MODES.items()}
    assert found == close({mode: (count, count / len(rows)) for mode, count in seen.items()} if rows else {})
    found = metric_rows(published.con, view, ["turn_count"], "seen_count")
    assert found == {
        key: (count,) for key, count in Counter(sum(row[name] for name in MODES.values()) for row in rows).items()
    }
    found = metric_rows(published.con, view, ["seen_count", "turn_count"], "(prediction, mode)")
    assert found == {
        (token, mode): (sum(row[name] for row in same), len(same))
        for token in {row["classifier_prediction"] for row in rows}
        for mode, name in MODES.items()
        if (same := [row for row in rows if row["classifier_prediction"] == token])
    }


def test_metrics_are_those_of_the_episodes(published: Published) -> None:
    every = episodes(published.folder)
    chosen, people = list(answers(every)), list(workers(every))
    contexts = {episode["context_dataset"] for _, episode in every}

    names = ["episode_count", "message_count", "words_per_message"]
    found = metric_rows(published.con, "blended_skill_talk_dialogue_lengths", names, "context_dataset")
    messages = {
        context: [text for _, talk in every if talk["context_dataset"] == context for _, text in talk["dialog"]]
        for context in contexts
    }
    assert found == close(
        {
            context: (
                sum(episode["context_dataset"] == context for _, episode in every),
                len(messages[context]),
                sum(len(text.split()) for text in messages[context]) / len(messages[context]),
            )
            for context in contexts
        }
    )

    names = ["taken_count", "taken_share"]
    found = metric_rows(published.con, "blended_skill_talk_suggestions_taken", names, "model")
    taken = Counter(answer.model for answer in chosen)
    assert found == close({model: (count, count / len(chosen)) for model, count in taken.items()})
    names = ["first_share", "placed_count"]
    found = metric_rows(published.con, "blended_skill_talk_suggestions_taken", names, "model")
    placed = {model: [row.first == model for row in chosen if row.first and row.model == model] for model in taken}
    assert found == close(
        {
            model: (None, None) if model == "none" else (share(sum(firsts), len(firsts)), len(firsts))
            for model, firsts in placed.items()
        }
    )

    where = "corpus_id = 'blended_skill_talk' and kind = 'message' and is_first_in_split"
    found = metric_rows(published.con, "persona_words", ["message_count", "sharing_share"], "role", where)
    for at, role in enumerate(ROLES):
        sharing = [
            bool(words([text]) & words(episode["personas"][at]))
            for _, episode in every
            for _, text in episode["dialog"][at::2]
        ]
        assert found[role] == close((len(sharing), sum(sharing) / len(sharing)))

    names = ["overlap", "persona_count"]
    for column in ("role", "context_dataset"):
        found = metric_rows(published.con, "blended_skill_talk_persona_overlap", names, column)
        groups = ROLES if column == "role" else contexts
        for key in groups:
            mine = [worker for worker in people if key in (worker.role, worker.context)]
            used, whole = sum(len(worker.used) for worker in mine), sum(len(worker.words) for worker in mine)
            assert found[key] == close((share(used, whole), len(mine)))
