"""DBDC3: what its page says, computed again from the logs as they are published."""

import json
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import log2
from pathlib import Path, PurePosixPath
from statistics import fmean
from typing import Any, NamedTuple

from tests.corpora.conftest import Published
from tests.corpora.shown import close, headlines, metric_rows

RELEASES = ("dbdc3", "dbdc3_revised", "dev_zips")
BOTS = {"TKTK": "TickTock", "json": "TickTock"}
LABELS = "OTX"


class Turn(NamedTuple):
    """A labelled turn of one release."""

    release: str
    part: tuple[str, str]
    dialogue: str
    index: int
    position: int
    votes: Counter[str]


def bot_of(turn: Turn) -> str:
    return BOTS.get(turn.part[1][:4], turn.part[1].split("_")[0])


def majority(turn: Turn) -> str:
    """The label that most annotators gave; of several, the first in the order of characters."""
    return min(turn.votes, key=lambda label: (-turn.votes[label], label))


def entropy(turn: Turn) -> float:
    return -sum(share * log2(share) for share in [count / turn.votes.total() for count in turn.votes.values()])


def written(turn: Turn) -> str:
    return ", ".join(f"{label} {count}" for label, count in sorted(turn.votes.items()))


def logs(folder: Path) -> Iterator[tuple[PurePosixPath, Any]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                files = {PurePosixPath(name): archive.read(name) for name in archive.namelist()}
        else:
            files = {PurePosixPath(path.relative_to(folder)): path.read_bytes()} if path.is_file() else {}
        for name, data in files.items():
            if name.name.endswith(".log.json") and "__MACOSX" not in name.parts:
                yield name, json.loads(data)


def turns(folder: Path) -> Iterator[Turn]:
    for path, log in logs(folder):
        *_, release, _, split, subset, _ = (*[""] * 4, *path.parts)
        if release not in RELEASES:
            release, split = "dev_zips", "dev"
        labelled = [turn for turn in log["turns"] if turn["annotations"]]
        for position, turn in enumerate(labelled):
            votes = Counter(annotation["breakdown"] for annotation in turn["annotations"])
            yield Turn(release, (split, subset), log["dialogue-id"], turn["turn-index"], position, votes)


def once(every: list[Turn]) -> list[Turn]:
    """Keep the turns of the first release that has the dialogue."""
    first: dict[str, int] = {}
    for turn in every:
        place = RELEASES.index(turn.release)
        first[turn.dialogue] = min(place, first.get(turn.dialogue, place))
    return [turn for turn in every if RELEASES[first[turn.dialogue]] == turn.release]


def hard(turn: Turn) -> str:
    """The most frequent label, O before T before X."""
    return max(LABELS, key=lambda label: (turn.votes[label], -LABELS.index(label)))


def by_bot(some: list[Turn]) -> dict[str, list[Turn]]:
    groups = defaultdict(list)
    for turn in some:
        groups[bot_of(turn)].append(turn)
    return groups


def alpha(some: list[Turn], distance: Callable[[Counter[str], str, str], Fraction]) -> float:
    """Krippendorff's alpha by its definition, over all pairs of labels."""
    units = [turn.votes for turn in some if turn.votes.total() > 1]
    everything = sum(units, Counter[str]())
    distances = {(label, other): distance(everything, label, other) for label in LABELS for other in LABELS}

    def pairs(votes: Counter[str]) -> Fraction:
        return sum((votes[value] * votes[other] * far for (value, other), far in distances.items()), Fraction(0))

    observed = sum((pairs(votes) / (votes.total() - 1) for votes in units), Fraction(0)) / everything.total()
    return float(1 - observed / (pairs(everything) / (everything.total() * (everything.total() - 1))))


def nominal(_: Counter[str], value: str, other: str) -> Fraction:
    return Fraction(value != other)


def ordinal(everything: Counter[str], value: str, other: str) -> Fraction:
    first, last = sorted((LABELS.index(value), LABELS.index(other)))
    between = sum(everything[label] for label in LABELS[first : last + 1])
    return (between - Fraction(everything[value] + everything[other], 2)) ** 2


def moved(before: Turn, after: Turn) -> float:
    """The share of the votes that other labels have."""
    return (
        sum(
            abs(before.votes[label] / before.votes.total() - after.votes[label] / after.votes.total())
            for label in LABELS
        )
        / 2
    )


def test_the_view_of_a_split_has_each_labelled_turn_once(published: Published) -> None:
    every = list(turns(published.folder))
    for split in ("dev", "eval"):
        rows = published.con.execute(
            f"select release, native_id, turn_index, label from dbdc3.breakdown_detection_{split}"
        ).fetchall()
        expected = [
            (turn.release, turn.dialogue, turn.index, hard(turn)) for turn in once(every) if turn.part[0] == split
        ]
        assert sorted(rows) == sorted(expected)


def test_headlines_say_what_the_logs_have(published: Published) -> None:
    every = list(turns(published.folder))
    default = once(every)
    revised = {(turn.dialogue, turn.index): turn for turn in every if turn.release == "dbdc3_revised"}
    pairs: dict[str, list[tuple[Turn, Turn]]] = defaultdict(list)
    for turn in every:
        if turn.release == "dbdc3" and (turn.dialogue, turn.index) in revised:
            pairs[bot_of(turn)].append((turn, revised[turn.dialogue, turn.index]))
    rates = {
        bot: [Fraction(sum(majority(pair[at]) == "X" for pair in of_bot), len(of_bot)) for at in (0, 1)]
        for bot, of_bot in pairs.items()
    }
    changing, breaking, agreeing, splitting = headlines(published.con, "dbdc3")
    assert changing
    assert breaking
    assert agreeing
    assert splitting

    changed = [bot for bot, of_bot in pairs.items() if any(before.votes != other.votes for before, other in of_bot)]
    most = min(changed, key=lambda bot: (-abs(rates[bot][0] - rates[bot][1]), bot))
    assert (changing["bot"], changing["before"], changing["after"]) == close((most, *rates[most]))
    first, later = max(pairs[most], key=lambda pair: round(moved(*pair), 9))
    shown = next(
        pair
        for pair in pairs[most]
        if (written(pair[0]), written(pair[1])) == (changing["votes_before"], changing["votes_after"])
    )
    assert moved(*shown) == close(moved(first, later))

    broken = {
        bot: Fraction(sum(hard(turn) == "X" for turn in mine), len(mine)) for bot, mine in by_bot(default).items()
    }
    worst = min(broken, key=lambda bot: (-broken[bot], bot))
    of_all = Fraction(sum(hard(turn) == "X" for turn in default), len(default))
    assert breaking == close({"bot": worst, "rate": broken[worst], "of_all": of_all, "turn_count": len(default)})

    parts = {turn.part for turn in default}
    alphas = [alpha([turn for turn in default if turn.part == part], nominal) for part in parts]
    figures = {name: agreeing[name] for name in ("alpha", "ordinal", "least", "most")}
    assert figures == close(
        {
            "alpha": alpha(default, nominal),
            "ordinal": alpha(default, ordinal),
            "least": min(alphas),
            "most": max(alphas),
        }
    )

    bits = max(entropy(turn) for turn in default)
    tied = [turn for turn in default if abs(entropy(turn) - bits) < 1e-9]
    assert splitting["tied_count"] == len(tied)
    assert splitting["votes"] in {written(turn) for turn in tied}


def test_metrics_are_those_of_the_logs(published: Published) -> None:
    every = list(turns(published.folder))
    default = once(every)
    names = ["turn_count", "share_o", "share_t", "share_x", "breakdown_rate", "lenient_breakdown_rate", "mean_entropy"]
    for column, groups in (
        ("bot", by_bot(default)),
        ("position", {place: [turn for turn in default if turn.position == place] for place in range(10)}),
    ):
        found = metric_rows(published.con, "dbdc3_breakdown_by_position", names, column, "is_default")
        for key, mine in groups.items():
            assert not mine or found[key] == close(
                (
                    len(mine),
                    *(fmean(turn.votes[label] / turn.votes.total() for turn in mine) for label in LABELS),
                    fmean(hard(turn) == "X" for turn in mine),
                    fmean(2 * turn.votes["O"] < turn.votes.total() for turn in mine),
                    fmean(entropy(turn) for turn in mine),
                )
            )

    found = metric_rows(
        published.con, "turn_agreement", ["unit_count", "majority_share", "entropy"], "scheme", "is_default"
    )
    assert found["dbdc3.breakdown"] == close(
        (
            len(default),
            sum(max(turn.votes.values()) for turn in default) / sum(turn.votes.total() for turn in default),
            fmean(entropy(turn) for turn in default),
        )
    )
    votes = metric_rows(
        published.con, "label_counts", ["vote_count"], "label", "is_default and scheme = 'dbdc3.breakdown'"
    )
    counted = sum((turn.votes for turn in default), Counter[str]())
    assert votes == close({label: (count,) for label, count in counted.items()})

    revised = {(turn.dialogue, turn.index): turn for turn in every if turn.release == "dbdc3_revised"}
    both = [
        (turn, revised[turn.dialogue, turn.index])
        for turn in every
        if turn.release == "dbdc3" and (turn.dialogue, turn.index) in revised
    ]
    names = ["turn_count", "changed_count", "changed_share", "change"]
    where = "scheme = 'dbdc3.breakdown' and release_before = 'dbdc3' and release_after = 'dbdc3_revised'"
    changed = [majority(before) != majority(other) for before, other in both]
    expected = (len(both), sum(changed), fmean(changed), fmean(moved(*pair) for pair in both))
    assert metric_rows(published.con, "label_changes", names, "scheme", where) == {"dbdc3.breakdown": close(expected)}
