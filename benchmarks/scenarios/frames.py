"""Talks with frames and spans, loaded by a corpus of one's own, compared with ``json.load`` of its files."""

import json
import random
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import service_talks
from benchmarks.scenario import Case, Scenario, ingest, peer

_CORPUS = Path(service_talks.__file__).parent
_SCALES = {"300 MB": 1.0, "15 MB": 0.05}


def _case(scale: float, folder: Path) -> Case:
    source = folder / _CORPUS.name
    Inventor(scale).folder(source)
    size = sum(path.stat().st_size for path in source.rglob("*.json")) / 1e6
    own = ingest(_CORPUS.name, source, "--corpora", str(_CORPUS))
    return Case((own, peer("json.load of each", "json_load", source)), size)


SCENARIO = Scenario(
    name="frames",
    title="Load talks with frames and spans, by a corpus of one's own (SGD's shape)",
    cases={name: partial(_case, scale) for name, scale in _SCALES.items()},
    quick=("15 MB",),
    bar={"300 MB": 4},
    measure="cpu",
    notes=(
        "Whole processes. The corpus is benchmarks/service_talks, begun by `talkhouse new corpus --like json-list`.",
        "A file of 128 talks is in memory at a time.",
    ),
)


# Invented talks in the shape and the proportions of SGD's: frames of services with acts, slots, spans and states.

TALKS = 10_800
"""Talks at scale 1: 300 MB."""

SHARES = {"train": 0.76, "dev": 0.12, "test": 0.12}
PER_FILE = 128
"""Talks of a file, as published."""

_WORDS = ("is", "there", "a", "table", "for", "two", "near", "the", "on", "Friday", "at", "seven", "please")
_ACTS = ("INFORM", "REQUEST", "CONFIRM", "OFFER")


class Inventor:
    """Invents services once, and talks about them."""

    def __init__(self, scale: float = 1.0) -> None:
        self._chance = random.Random(31)
        self._scale = scale
        self._services = {
            f"Service_{number}": [f"slot_{number % 7}_{position}" for position in range(5 + number % 8)]
            for number in range(45)
        }

    def folder(self, folder: Path) -> None:
        """Write the files of every split, indented as published."""
        for split, share in SHARES.items():
            (folder / split).mkdir(parents=True)
            (folder / split / "schema.json").write_text(json.dumps([*map(self._schema, self._services)], indent=2))
            count = max(1, round(TALKS * share * self._scale))
            for number, start in enumerate(range(0, count, PER_FILE), 1):
                talks = [self._talk(f"{number}_{index:05}") for index in range(min(PER_FILE, count - start))]
                path = folder / split / f"dialogues_{number:03}.json"
                path.write_text(json.dumps(talks, indent=2), encoding="utf-8")

    def _schema(self, service: str) -> dict[str, Any]:
        slots = [
            {"name": name, "description": f"The {name} of it.", "is_categorical": False}
            for name in self._services[service]
        ]
        intents = [{"name": "Find", "description": "Find one.", "is_transactional": False}]
        return {"service_name": service, "description": "Invented.", "slots": slots, "intents": intents}

    def _talk(self, talk_id: str) -> dict[str, Any]:
        services = self._chance.sample(sorted(self._services), self._chance.choice((1, 1, 2, 3)))
        values: dict[str, list[str]] = {}
        turns = [
            self._turn(index, self._chance.choice(services), values) for index in range(2 * self._chance.randint(5, 14))
        ]
        return {"dialogue_id": talk_id, "services": services, "turns": turns}

    def _result(self, service: str) -> dict[str, str]:
        return {name: " ".join(self._chance.choices(_WORDS, k=2)) for name in self._services[service]}

    def _turn(self, index: int, service: str, values: dict[str, list[str]]) -> dict[str, Any]:
        words = self._chance.choices(_WORDS, k=self._chance.randint(6, 16))
        text = " ".join(words) + (" ☕" if self._chance.random() < 0.002 else "")
        names = self._chance.sample(self._services[service], self._chance.choice((1, 1, 2, 3)))
        slots = []
        if self._chance.random() < 0.6:
            start = text.index(words[2])
            slots = [{"slot": names[0], "start": start, "exclusive_end": start + len(words[2])}]
        for name in names:
            values[name] = [self._chance.choice(_WORDS)]
        actions = [
            {"act": self._chance.choice(_ACTS), "slot": name, "values": values[name], "canonical_values": values[name]}
            for name in names
        ]
        frame: dict[str, Any] = {"service": service, "slots": slots, "actions": actions}
        if index % 2 == 0:
            frame["state"] = {"active_intent": "Find", "requested_slots": names[:1], "slot_values": dict(values)}
        elif self._chance.random() < 0.2:
            frame["service_call"] = {"method": "Find", "parameters": {name: value[0] for name, value in values.items()}}
            frame["service_results"] = [self._result(service) for _ in range(self._chance.randint(1, 10))]
        return {"speaker": "SYSTEM" if index % 2 else "USER", "utterance": text, "frames": [frame]}
