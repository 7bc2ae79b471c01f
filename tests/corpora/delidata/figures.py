"""What the page of DeliData and its metrics have to say, in plain Python from the raw files: not from our SQL."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.corpora.delidata.rules import Group, decoded
from tests.corpora.delidata.view_rows import (
    Key,
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

Rows = dict[Key, tuple[Any, ...]]


@dataclass(frozen=True)
class Chart:
    """The rows of a chart by what it groups by, and how many rows of its view they are made of."""

    rows: Rows
    behind: int


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


def charts(groups: list[Group]) -> dict[str, Chart]:
    """Return every chart of the page by its title, without a limit of its rows."""
    of_outcomes = metrics(groups)["delidata_outcomes"]
    tiles = {
        "Groups": "group_count",
        "People": "people_count",
        "Messages": "message_count",
        "Groups that do better": "gain_share",
    }
    found = {title: Chart({(): (of_outcomes[name],)}, len(groups)) for title, name in tiles.items()}
    return found | _of_rows(groups) | _of_people(groups) | _of_groups(groups)


def _of_rows(groups: list[Group]) -> dict[str, Chart]:
    by_tenth, by_label = defaultdict(list), defaultdict(list)
    for place in places(groups):
        by_tenth[(min(10 * place.index // (len(place.group.rows) - 1), 9) * 10,)].append(place)
        if place.is_message:
            labels = (place.row["annotation_type"] or None, place.row["annotation_target"] or None)
            by_label[labels].append(place)
    tenths: Rows = {
        key: (mean(performance(place.row) for place in listed), sum(place.is_message for place in listed))
        for key, listed in by_tenth.items()
    }
    labels: Rows = {key: (len(listed), *own_and_next(listed)) for key, listed in by_label.items()}
    return {
        "Team performance over the discussion": Chart(tenths, len(places(groups))),
        "Messages by type and target": Chart(labels, sum(map(message_count, groups))),
    }


def _of_people(groups: list[Group]) -> dict[str, Chart]:
    held = states(groups)
    first = Counter((kind(state.cards),) for state in held if state.index == 0)
    last = Counter((kind(state.cards),) for state in held if state.is_last)
    ways = Counter(
        (kind(state.first), kind(state.cards)) for state in held if state.is_last and state.first is not None
    )
    moved: Rows = {way: (count,) for way, count in ways.items() if way[0] != way[1]}
    of_group, of_kind = defaultdict(list), defaultdict(list)
    for state in held:
        of_group[(f"delidata:{state.group.name}",)].append(state)
        if state.is_changed:
            of_kind[(state.row["message_type"].lower(),)].append(state)
    most: Rows = {}
    for key, mine in of_group.items():
        changes = [state for state in mine if state.is_changed]
        most[key] = (
            len(changes),
            len({state.person for state in mine}),
            share(state.improvement > 0 for state in changes),
        )
    brought: Rows = {
        key: (share(state.improvement > 0 for state in mine), share(state.improvement < 0 for state in mine), len(mine))
        for key, mine in of_kind.items()
    }
    return {
        "The 10 most frequent choices of cards": Chart(
            {key: (last[key], first[key]) for key in first | last},
            sum(state.index == 0 or state.is_last for state in held),
        ),
        "Who changes their mind to what? The 10 most frequent ways": Chart(
            moved, sum(count for (count,) in moved.values())
        ),
        "The 10 groups with most changes": Chart(most, len(held)),
        "Changes by what brings them": Chart(brought, sum(map(len, of_kind.values()))),
    }


def _of_groups(groups: list[Group]) -> dict[str, Chart]:
    counts = Counter((message_count(group) // 10 * 10, outcome(group)) for group in groups)
    by_size = defaultdict(list)
    for group in groups:
        by_size[(len(people(group)),)].append(ends(group))
    sizes: Rows = {
        key: (mean(start for start, _ in mine), mean(end for _, end in mine), len(mine))
        for key, mine in by_size.items()
    }
    return {
        "Groups by number of messages and outcome": Chart(
            {key: (count,) for key, count in counts.items()}, len(groups)
        ),
        "Performance before and in the end, by size of the group": Chart(sizes, len(groups)),
    }


def headlines(groups: list[Group]) -> list[tuple[str, int]]:
    """Return every sentence of the page, and how many rows its numbers are made of, where they are of one view."""
    held = states(groups)
    before = [state.cards for state in held if state.index == 0]
    after = [state.cards for state in held if state.is_last and state.first is not None]
    right = [percent(share(kind(cards) == "vowel, odd" for cards in each)) for each in (before, after)]
    outcomes = Counter(map(outcome, groups))
    gain, loss = (percent(outcomes[name] / len(groups)) for name in ("gain", "loss"))
    said = [
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
        said.append((sentence, 1))
    return said


def percent(value: float | None) -> str:
    return f"{100 * (value or 0):.1f}%"
