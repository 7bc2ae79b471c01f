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
        (split, one) for split, path in paths if path.exists() for one in json.loads(path.read_text("utf-8")).values()
    ]


def with_waits(every: list[tuple[str, Any]]) -> list[dict[str, Any]]:
    """Return the utterances, each with its site, split, place, links and hours since the one before."""
    found = []
    for split, talk in every:
        times = [datetime.fromisoformat(one["utterance_time"]) for one in talk["utterances"]]
        for place, one in enumerate(talk["utterances"]):
            hours = (times[place] - times[place - 1]).total_seconds() / 3600 if place else None
            text = one["utterance"]
            links = sum(bool(address) for address, _ in TAG.findall(text)) + len(BARE.findall(TAG.sub(" ", text)))
            more = {"site": talk["category"], "split": split, "place": place, "hours": hours, "links": links}
            found.append(one | more)
    return found


def is_answer(one: dict[str, Any]) -> bool:
    """Whether it is a post of an agent: comments have the id of their post and their own."""
    return one["actor_type"] == "agent" and re.fullmatch(r"\d+", one["id"]) is not None


def intents(one: dict[str, Any]) -> set[str]:
    return set(one["intent"].split()) if isinstance(one.get("intent"), str) else set(one.get("intent") or [])


def test_headlines_say_what_the_conversations_have(published: Published) -> None:
    said = with_waits(conversations(published.folder))
    labelled = [one for one in with_waits(conversations(published.folder, "_intents")) if intents(one)]
    intending, linking, waiting = headlines(published.con, "mantis")

    asked = [one for one in labelled if one["actor_type"] == "user" and one["place"]]
    if asked:
        assert intending
        given = Counter(intent for one in asked for intent in intents(one))
        most = min(given, key=lambda intent: (-given[intent], intent))
        assert (intending["intent"], intending["share"]) == close((most, given[most] / len(asked)))
    else:
        assert intending is None

    of_agents = [one for one in said if one["actor_type"] == "agent"]
    assert linking == close({"share": sum(one["links"] > 0 for one in of_agents) / len(of_agents)})

    assert waiting
    hours = [one["hours"] for one in of_agents if one["place"] == 1]
    assert (waiting["hours"], waiting["most"]) == close((median(hours), max(hours)))


def test_metrics_are_those_of_the_conversations(published: Published) -> None:
    every = conversations(published.folder)
    said = with_waits(every)
    sites = {one["site"] for one in said}

    def of_site(some: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
        return {site: mine for site in sites if (mine := [one for one in some if one["site"] == site])}

    names = ["dialogue_count", "utterance_count", "linked_share", "median_waiting_hours"]
    found = metric_rows(published.con, "mantis_utterances", names, "site")
    assert found == close(
        {
            site: (
                sum(talk["category"] == site for _, talk in every),
                len(mine),
                fmean(one["links"] > 0 for one in mine),
                median(one["hours"] for one in mine if one["hours"] is not None),
            )
            for site, mine in of_site(said).items()
        }
    )

    where = "role = 'agent' and post_id is not null and comment_id is null"
    found = metric_rows(published.con, "mantis_utterances", ["mean_votes"], "site", where)
    assert found == close(
        {
            site: (fmean(int(one["votes"]) for one in mine),)
            for site, mine in of_site([one for one in said if is_answer(one)]).items()
        }
    )

    labelled = [one for one in with_waits(conversations(published.folder, "_intents")) if intents(one)]
    names = ["utterance_count", "share"]
    found = metric_rows(published.con, "mantis_intents_by_domain", names, "intent")
    given = Counter(intent for one in labelled for intent in intents(one))
    assert found == close({intent: (count, count / len(labelled)) for intent, count in given.items()})

    found = metric_rows(
        published.con, "mantis_intent_cooccurrence", ["both_count", "overlap"], "(intent, other_intent)"
    )
    both = Counter(pair for one in labelled for pair in combinations(sorted(intents(one)), 2))
    either = {pair: sum(bool(intents(one) & {*pair}) for one in labelled) for pair in both}
    assert found == close({pair: (count, count / either[pair]) for pair, count in both.items()})

    links = metric_rows(published.con, "mantis_grounding_by_site", ["link_count"], "site", "linked_site is not null")
    of_agents = of_site([one for one in said if one["actor_type"] == "agent"])
    expected = {site: sum(one["links"] for one in mine) for site, mine in of_agents.items()}
    assert links == close({site: (count,) for site, count in expected.items() if count})
