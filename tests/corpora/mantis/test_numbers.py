"""MANtIS: what its page says, computed again from the conversations as they are published."""

import json
import re
from collections import Counter
from datetime import datetime
from itertools import combinations
from pathlib import Path
from statistics import fmean, median
from typing import Any

from tests.corpora.conftest import Published
from tests.corpora.shown import close, headlines, metric_rows

SPLITS = ("train", "dev", "test")
TAG = re.compile(r'<a\s[^>]*href="([^"]*)"[^>]*>(https?://[^\s<>"]+)?', re.IGNORECASE)
BARE = re.compile(r'https?://[^\s<>"]+', re.IGNORECASE)


def conversations(folder: Path, ending: str = "") -> list[tuple[str, Any]]:
    paths = [(split, folder / f"merged_{split}{ending}.json") for split in SPLITS]
    return [
        (split, talk) for split, path in paths if path.exists() for talk in json.loads(path.read_text("utf-8")).values()
    ]


def with_waits(every: list[tuple[str, Any]]) -> list[dict[str, Any]]:
    """Return the utterances, each with its site, split, place, links and hours since the one before."""
    found = []
    for split, talk in every:
        times = [datetime.fromisoformat(turn["utterance_time"]) for turn in talk["utterances"]]
        for place, turn in enumerate(talk["utterances"]):
            hours = (times[place] - times[place - 1]).total_seconds() / 3600 if place else None
            text = turn["utterance"]
            links = sum(bool(address) for address, _ in TAG.findall(text)) + len(BARE.findall(TAG.sub(" ", text)))
            more = {"site": talk["category"], "split": split, "place": place, "hours": hours, "links": links}
            found.append(turn | more)
    return found


def is_answer(turn: dict[str, Any]) -> bool:
    """Whether it is a post of an agent: comments have the id of their post and their own."""
    return turn["actor_type"] == "agent" and re.fullmatch(r"\d+", turn["id"]) is not None


def intents(turn: dict[str, Any]) -> set[str]:
    return set(turn["intent"].split()) if isinstance(turn.get("intent"), str) else set(turn.get("intent") or [])


def test_headlines_say_what_the_conversations_have(published: Published) -> None:
    utterances = with_waits(conversations(published.folder))
    labelled = [turn for turn in with_waits(conversations(published.folder, "_intents")) if intents(turn)]
    intending, linking, waiting = headlines(published.con, "mantis")

    asked = [turn for turn in labelled if turn["actor_type"] == "user" and turn["place"]]
    if asked:
        assert intending
        counts = Counter(intent for turn in asked for intent in intents(turn))
        most = min(counts, key=lambda intent: (-counts[intent], intent))
        assert (intending["intent"], intending["share"]) == close((most, counts[most] / len(asked)))
    else:
        assert intending is None

    of_agents = [turn for turn in utterances if turn["actor_type"] == "agent"]
    assert linking == close({"share": sum(turn["links"] > 0 for turn in of_agents) / len(of_agents)})

    assert waiting
    hours = [turn["hours"] for turn in of_agents if turn["place"] == 1]
    assert (waiting["hours"], waiting["most"]) == close((median(hours), max(hours)))


def test_metrics_are_those_of_the_conversations(published: Published) -> None:
    every = conversations(published.folder)
    utterances = with_waits(every)
    sites = {turn["site"] for turn in utterances}

    def of_site(some: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
        return {site: mine for site in sites if (mine := [turn for turn in some if turn["site"] == site])}

    names = ["dialogue_count", "utterance_count", "linked_share", "median_waiting_hours"]
    found = metric_rows(published.con, "mantis_utterances", names, "site")
    assert found == close(
        {
            site: (
                sum(talk["category"] == site for _, talk in every),
                len(mine),
                fmean(turn["links"] > 0 for turn in mine),
                median(turn["hours"] for turn in mine if turn["hours"] is not None),
            )
            for site, mine in of_site(utterances).items()
        }
    )

    where = "role = 'agent' and post_id is not null and comment_id is null"
    found = metric_rows(published.con, "mantis_utterances", ["mean_votes"], "site", where)
    assert found == close(
        {
            site: (fmean(int(turn["votes"]) for turn in mine),)
            for site, mine in of_site([turn for turn in utterances if is_answer(turn)]).items()
        }
    )

    labelled = [turn for turn in with_waits(conversations(published.folder, "_intents")) if intents(turn)]
    names = ["utterance_count", "share"]
    found = metric_rows(published.con, "mantis_intents_by_domain", names, "intent")
    counts = Counter(intent for turn in labelled for intent in intents(turn))
    assert found == close({intent: (count, count / len(labelled)) for intent, count in counts.items()})

    found = metric_rows(
        published.con, "mantis_intent_cooccurrence", ["both_count", "overlap"], "(intent, other_intent)"
    )
    both = Counter(pair for turn in labelled for pair in combinations(sorted(intents(turn)), 2))
    either = {pair: sum(bool(intents(turn) & {*pair}) for turn in labelled) for pair in both}
    assert found == close({pair: (count, count / either[pair]) for pair, count in both.items()})

    links = metric_rows(published.con, "mantis_grounding_by_site", ["link_count"], "site", "linked_site is not null")
    of_agents = of_site([turn for turn in utterances if turn["actor_type"] == "agent"])
    expected = {site: sum(turn["links"] for turn in mine) for site, mine in of_agents.items()}
    assert links == close({site: (count,) for site, count in expected.items() if count})
