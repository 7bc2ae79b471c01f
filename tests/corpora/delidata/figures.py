"""What the page of DeliData and its metrics have to say, in plain Python from the raw files: not from our SQL."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from tests.corpora.delidata.rules import Group, decoded
from tests.corpora.delidata.view_rows import (
    Place,
    ends,
    kind,
    message_count,
    outcome,
    people,
    performance,
    places,
    states,
    word_count,
)


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
