"""MPChat: what its page says, computed again from the task files as they are published."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

from tests.corpora.conftest import Published
from tests.corpora.shown import close, headlines, metric_rows
from tests.data_files import data_of

SPLITS = ("train", "val", "test")
PERSONA_LISTS = data_of(__file__)["persona_lists"]
"""The lists of elements that are the main author's."""


def threads(folder: Path, task: str) -> list[tuple[str, Any]]:
    file = json.loads((folder / f"mpchat_{task}.json").read_text("utf-8"))
    return [(split, thread) for split in SPLITS for thread in file[split]]


def elements(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield value
    for item in value if isinstance(value, list) else ():
        yield from elements(item)


def persona(element: Any) -> tuple[str, str]:
    """What is one persona, whatever its score was when a file was made."""
    return element["title"], element["file_name"]


def personas(thread: Any) -> set[tuple[str, str]]:
    return {persona(element) for name in PERSONA_LISTS for element in elements(thread.get(name))}


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{5,}", text.lower()))


def own(thread: Any) -> list[int]:
    return [place for place, author in enumerate(thread["authors"]) if author == thread["main_author"]]


def grounded(some: Iterable[Any]) -> tuple[int, int]:
    """Count the main authors' messages with a gold element, and all of them."""
    gold = [thread["gpp_grounded_persona"][place] for thread in some for place in own(thread)]
    return sum(element is not None for element in gold), len(gold)


def test_headlines_say_what_the_threads_have(published: Published) -> None:
    every = [thread for task in ("nrp", "gpp", "si") for thread in threads(published.folder, task)]
    grounding, having, sharing = headlines(published.con, "mpchat")
    part, whole = grounded(thread for _, thread in threads(published.folder, "gpp"))
    assert grounding == close({"share": part / whole})

    of_author = defaultdict(set)
    for _, thread in every:
        of_author[thread["main_author"]] |= personas(thread)
    sizes = [len(mine) for mine in of_author.values() if mine]
    assert having == close({"mean": fmean(sizes), "most": max(sizes)})

    known = {key for split, thread in every if split == "train" for key in personas(thread)}
    of_test: dict[tuple[str, ...], set[tuple[str, str]]] = defaultdict(set)
    for split, thread in every:
        if split == "test":
            of_test[*thread["message_ids"], *thread["messages"]] |= personas(thread)
    shared = sum(bool(mine & known) for mine in of_test.values())
    assert sharing == close({"split": "test", "other_split": "train", "share": shared / len(of_test)})


def test_metrics_are_those_of_the_threads(published: Published) -> None:
    of_gpp = threads(published.folder, "gpp")
    names = ["dialogue_count", "response_count", "grounding_rate"]
    found = metric_rows(published.con, "mpchat_grounding_by_subreddit", names, "subreddit")
    expected = {}
    for subreddit in {thread["subreddit"] for _, thread in of_gpp}:
        mine = [thread for _, thread in of_gpp if thread["subreddit"] == subreddit]
        part, whole = grounded(mine)
        expected[subreddit] = (len(mine), whole, part / whole if whole else None)
    assert found == close(expected)

    votes = defaultdict(list)
    for _, thread in threads(published.folder, "nrp"):
        for name in ("grounded", "ungrounded"):
            for element in elements(thread[f"{name}_personas"]):
                votes[name].append([vote for _, vote in element["label_per_worker"]])
    names = ["pair_count", "entailed_share", "unanimous_share", "agreement_share"]
    found = metric_rows(published.con, "mpchat_worker_agreement", names, "persona_set")
    expected = {}
    for name, pairs in votes.items():
        alike = [vote == other for of_pair in pairs for vote, other in combinations(of_pair, 2)]
        expected[name] = (
            len(pairs),
            fmean(vote for of_pair in pairs for vote in of_pair),
            fmean(len({*of_pair}) == 1 for of_pair in pairs),
            fmean(alike) if alike else None,
        )
    assert found == close(expected)

    # A thread is published in up to three files, each of which has all elements of its author.
    of_thread = {(split, *thread["message_ids"]): thread for split, thread in threads(published.folder, "nrp") + of_gpp}
    sharing = [
        bool(words(thread["messages"][place]) & {word for title, _ in personas(thread) for word in words(title)})
        for thread in of_thread.values()
        for place in own(thread)
    ]
    where = "corpus_id = 'mpchat' and is_first_in_split"
    found = metric_rows(published.con, "persona_words", ["message_count", "sharing_share"], "corpus_id", where)
    assert found == close({"mpchat": (len(sharing), fmean(sharing))})

    names = ["list_count", "item_count", "distinct_count", "mean_uses", "max_uses", "gold_elsewhere_count"]
    found = metric_rows(published.con, "mpchat_candidate_reuse", names, "(split, candidate_set)")
    assert found == close({key: of_lists(lists) for key, lists in candidates(published.folder).items()})


def candidates(folder: Path) -> dict[tuple[str, str], list[list[list[Any]]]]:
    """Return the candidate lists of each split: the items of each candidate, the gold one first."""
    found = defaultdict(list)
    for split, thread in threads(folder, "nrp"):
        for texts in filter(None, thread.get("nrp_candidate_responses") or []):
            found[split, "nrp_response"].append([[text] for text in texts])
    for split, thread in threads(folder, "gpp"):
        for some in filter(None, thread.get("gpp_candidate_authors_candidate_personas") or []):
            found[split, "gpp_persona"].append([[persona(item)] for item in some])
    for split, thread in threads(folder, "si"):
        if authors := thread.get("si_candidate_authors_candidate_personas"):
            found[split, "si_author"].append([[persona(item) for item in some] for some in authors])
    return found


def of_lists(lists: list[list[list[Any]]]) -> tuple[float, ...]:
    uses = Counter(item for options in lists for some in options for item in some)
    right = {item for options in lists for item in options[0]}
    wrong = {item for options in lists for some in options[1:] for item in some}
    return (len(lists), uses.total(), len(uses), uses.total() / len(uses), max(uses.values()), len(right & wrong))
