"""The rows of DeliData and the views that have them, in plain Python from the raw files: not from our SQL."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tests.corpora.delidata.rules import Group, decoded, score

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Place:
    """A row of a file among the others."""

    group: Group
    index: int

    @property
    def row(self) -> dict[str, str]:
        """The row itself."""
        return self.group.rows[self.index]

    @property
    def is_message(self) -> bool:
        """Whether somebody says something in it."""
        return self.row["message_type"] == "MESSAGE"

    @property
    def gain(self) -> float | None:
        """How much better the team is than after the row before; None for the first."""
        return performance(self.row) - performance(self.group.rows[self.index - 1]) if self.index else None

    @property
    def following(self) -> "Place | None":
        """The next row; None for the last."""
        return Place(self.group, self.index + 1) if self.index + 1 < len(self.group.rows) else None

    @property
    def progress(self) -> float:
        """How far the dialogue is: 0 in the first row, 1 in the last."""
        return self.index / (len(self.group.rows) - 1)


@dataclass(frozen=True)
class State(Place):
    """A row with what the tracker then has for a person of the INITIAL row, where it has a solution."""

    person: str
    cards: frozenset[str]
    first: frozenset[str] | None
    """What it has in row 0."""
    before: frozenset[str] | None
    """What it had last."""
    is_last: bool

    @property
    def is_changed(self) -> bool:
        """Whether it is another solution than the last."""
        return self.before not in (None, self.cards)

    @property
    def is_submit(self) -> bool:
        """Whether the person hands it in."""
        return (self.row["message_type"], self.row["origin"]) == ("SUBMIT", self.person)

    @property
    def improvement(self) -> float:
        """How much more the solution scores than the last."""
        return score([*self.cards]) - score([*(self.before or ())])


def states(groups: Iterable[Group]) -> list[State]:
    """Follow each person of each group; the letters of N/A say that nothing is known."""
    found = []
    for group in groups:
        for person in people(group):
            lists = [json.loads(row["sol_tracker_all"]).get(person, ["N", "/", "A"]) for row in group.rows]
            held = {index: frozenset(cards) for index, cards in enumerate(lists) if "/" not in cards}
            before = None
            for index, cards in held.items():
                found.append(State(group, index, person, cards, held.get(0), before, index == max(held)))
                before = cards
    return found


def people(group: Group) -> list[str]:
    return [name for name in group.named if name != "SYSTEM"]


def kind(cards: Iterable[str]) -> str:
    """Name a solution by what its cards are, which is the right one or not."""
    tests = {
        "vowel": lambda card: card in "AEIOUY",
        "odd": lambda card: card in "13579",
        "consonant": lambda card: card.isalpha() and card.isupper() and card not in "AEIOUY",
        "even": lambda card: card in "02468",
    }
    return ", ".join(name for name, test in tests.items() if any(map(test, cards))) or "none"


def performance(row: dict[str, str]) -> float:
    return float(row["team_performance"])


def places(groups: Iterable[Group]) -> list[Place]:
    return [Place(group, index) for group in groups for index in range(len(group.rows))]


def message_count(group: Group) -> int:
    return sum(row["message_type"] == "MESSAGE" for row in group.rows)


def ends(group: Group) -> tuple[float, float]:
    return performance(group.rows[0]), performance(group.rows[-1])


def outcome(group: Group) -> str:
    start, end = ends(group)
    return "gain" if end > start else "loss" if end < start else "same"


def solutions(groups: list[Group]) -> dict[Key, tuple[Any, ...]]:
    """Return the rows of the view of solutions by group, row and person."""
    found = {}
    for state in states(groups):
        rows, cards = state.group.rows, state.group.rows[0]["original_text"].partition("&&")[2].split(",")
        own = state.index if state.is_changed and state.row["message_type"] == "MESSAGE" else None
        earlier = [index for index in range(state.index) if rows[index]["message_type"] == "MESSAGE"]
        previous = earlier[-1] if state.is_changed and earlier else None
        shown = [
            None if held is None else ", ".join(card for card in cards if card in held) or "none"
            for held in (state.cards, state.before)
        ]
        found[state.group.name, state.index, state.person] = (
            *(shown[0], kind(state.cards), score([*state.cards])),
            *((None, None) if state.first is None else (kind(state.first), score([*state.first]))),
            *(shown[1], None if state.before is None else score([*state.before])),
            *(state.index == 0, state.is_last, state.is_changed, state.is_submit, state.row["message_type"].lower()),
            *_message(rows, own),
            *_message(rows, previous),
            performance(state.row),
        )
    return found


SOLUTION = """solution, solution_type, score, first_solution_type, first_score, previous_solution, previous_score,
is_first, is_last, is_changed, is_submit, kind,
message_turn_index, message_speaker_name, message_type, message_text,
previous_message_turn_index, previous_message_speaker_name, previous_message_type, previous_message_text,
team_performance"""
"""The columns that ``solutions`` gives."""


def _message(rows: list[dict[str, str]], index: int | None) -> tuple[Any, ...]:
    if index is None:
        return (None, None, None, None)
    row = rows[index]
    return (index, row["origin"], row["annotation_type"] or None, decoded(row["original_text"]))


def trajectory(groups: list[Group]) -> dict[Key, tuple[Any, ...]]:
    found = {}
    for place in places(groups):
        rows = place.group.rows[: place.index + 1]
        values = [performance(row) for row in rows]
        found[place.group.name, place.index] = (
            len(people(place.group)),
            sum(row["message_type"] == "MESSAGE" for row in rows),
            place.progress,
            *(place.row["message_type"].lower(), place.row["origin"], decoded(place.row["original_text"])),
            *(place.row["annotation_type"] or None, place.row["annotation_target"] or None),
            *(values[-1], float(place.row["performance_change"])),
            float(place.following.row["performance_change"]) if place.following else None,
            *(values[-1] - values[0], max(values), values[-1] > max(values[:-1]) if place.index else None),
        )
    return found


TRAJECTORY = """group_size, message_count, progress, kind, speaker_name, text, annotation_type, annotation_target,
team_performance, performance_change, next_performance_change, change_since_start, best_so_far, is_new_best"""
"""The columns that ``trajectory`` gives."""


def outcomes(groups: list[Group]) -> dict[Key, tuple[Any, ...]]:
    found = {}
    for group in groups:
        texts = [decoded(row["original_text"]) for row in group.rows if row["message_type"] == "MESSAGE"]
        start, end = ends(group)
        found[(group.name,)] = (
            *(len(people(group)), len(group.rows), len(texts), len(texts) // 10 * 10),
            sum(row["message_type"] == "SUBMIT" for row in group.rows),
            *(sum(map(word_count, texts)), sum(map(len, texts))),
            sum(row["annotation_type"] == "Probing" for row in group.rows),
            *(start, end, max(map(performance, group.rows)), end - start, outcome(group)),
        )
    return found


OUTCOME = """group_size, turn_count, message_count, message_count_bin, submit_count, word_count, character_count,
probing_count, initial_performance, final_performance, best_performance, performance_change, outcome"""
"""The columns that ``outcomes`` gives."""


def word_count(text: str) -> int:
    """Count runs of anything but spaces, tabs and line ends; other white space, as a no-break space, parts no words."""
    return len([word for word in text.translate({ord(blank): " " for blank in "\t\r\f\n"}).split(" ") if word])


def gains_agree(groups: Iterable[Group]) -> bool:
    """Whether each row's published change is its own step from the row before, as what is said of it takes it to be."""
    return all(
        abs(performance(later) - performance(earlier) - float(later["performance_change"])) < 0.0015
        for group in groups
        for earlier, later in pairwise(group.rows)
    )


# What the page of DeliData and its metrics have to say, in plain Python from the raw files: not from our SQL.


def mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def share(values: Iterable[bool]) -> float | None:
    listed = list(values)
    return sum(listed) / len(listed) if listed else None


def own_and_next(listed: Iterable[Place]) -> tuple[float | None, float | None]:
    """Return the shares of rows that make the team better, and of those whose next row does."""
    gains = [(place.gain, place.following.gain if place.following else None) for place in listed]
    own, following = ([gain > 0 for gain in column if gain is not None] for column in zip(*gains, strict=True))
    return share(own), share(following)


def metrics(groups: list[Group]) -> dict[str, dict[str, Any]]:
    held, listed = states(groups), places(groups)
    changes = [state for state in held if state.is_changed]
    own, following = own_and_next(listed)
    persons = {(state.group.name, state.person) for state in held}
    return {
        "delidata_outcomes": {
            "group_count": len(groups),
            "people_count": sum(len(people(group)) for group in groups),
            "message_count": sum(map(message_count, groups)),
            "initial_performance": mean(ends(group)[0] for group in groups),
            "final_performance": mean(ends(group)[1] for group in groups),
            "performance_change": mean(ends(group)[1] - ends(group)[0] for group in groups),
            "gain_share": share(outcome(group) == "gain" for group in groups),
        },
        "delidata_trajectory": {
            "team_performance": mean(performance(place.row) for place in listed),
            "message_count": sum(map(message_count, groups)),
            "own_improvement_share": own,
            "next_improvement_share": following,
        },
        "delidata_solutions": {
            "person_count": len(persons),
            "first_count": sum(state.index == 0 for state in held),
            "last_count": len(persons),
            "change_count": len(changes),
            "changes_per_person": len(changes) / len(persons),
            "better_share": share(state.improvement > 0 for state in changes),
            "worse_share": share(state.improvement < 0 for state in changes),
            "submit_count": sum(row["message_type"] == "SUBMIT" for group in groups for row in group.rows),
            "right_share": share(kind(state.cards) == "vowel, odd" for state in held),
        },
    }


def shared_metrics(groups: list[Group]) -> dict[str, dict[str, Any]]:
    listed = [place for place in places(groups) if place.is_message]
    words = [word_count(decoded(place.row["original_text"])) for place in listed]
    # The turns with a label of their type are the messages; of the turns right after them, only messages count.
    following = [place.following for place in listed if place.following and place.following.is_message]
    answers = [word_count(decoded(place.row["original_text"])) for place in following]
    return {
        "record_turns": {
            "turn_count": len(places(groups)),
            "message_count": len(listed),
            "word_count": sum(words),
            "words_per_message": mean(words),
        },
        "record_dialogues": {
            "turns_per_dialogue": len(places(groups)) / len(groups),
            "words_per_dialogue": sum(words) / len(groups),
        },
        "labelled_turns": {"turn_count": len(listed), "next_words": mean(answers)},
    }


def headlines(groups: list[Group]) -> list[tuple[str, int]]:
    """Return every sentence of the page, and how many rows its numbers are made of, where they are of one view."""
    held = states(groups)
    before = [state.cards for state in held if state.index == 0]
    after = [state.cards for state in held if state.is_last and state.first is not None]
    right = [percent(share(kind(cards) == "vowel, odd" for cards in each)) for each in (before, after)]
    outcomes = Counter(map(outcome, groups))
    gain, loss = (percent(outcomes[name] / len(groups)) for name in ("gain", "loss"))
    lines = [
        (
            f"Before the discussion {right[0]} of the people choose the right cards, in the end {right[1]} "
            f"(of the {len(before):,} people whose first choice is known).",
            sum(state.first is not None and (state.index == 0 or state.is_last) for state in held),
        ),
        (f"{gain} of the groups do better in the end than before, {loss} worse.", len(groups)),
    ]
    turned = [
        (-size, message_count(group), group.name)
        for group in groups
        if (size := len(people(group))) > 1
        and [kind(state.cards) == "vowel, odd" for state in held if state.group is group and state.index == 0]
        == [False] * size
        and [kind(state.cards) == "vowel, odd" for state in held if state.group is group and state.is_last]
        == [True] * size
    ]
    if turned:
        size, count, _ = min(turned)
        sentence = (
            "In one group nobody chooses the right cards before the discussion; "
            f"{count:,} messages later all {-size:,} do."
        )
        lines.append((sentence, 1))
    return lines


def percent(value: float | None) -> str:
    return f"{100 * (value or 0):.1f}%"
