"""A profile finds what plain Python finds in the raw file, and what was planted there."""

import json
import random
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

import talkhouse as th
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.profile import checks, profile
from tests.commands import run

DECLARATION = """
title = "Quay desk"
licence = "CC0-1.0"
citation = "Nobody (2026): Quay desk."
format = "dialogue"

[dialogue]
id = "id"
language = "language"
turns = "turns"

[turn]
text = "text"
role = "role"
speaker = "who"
said_at = "at"
"""

WORDS = ("berth", "crane", "tide", "rope", "fog", "lamp", "gull", "oar")
TEMPLATE = "Your ticket {} is being looked at by the harbour office."
GERMAN = "Guten Tag, wann kommt die nächste Fähre am Hafen an, und wo kann ich eine Fahrkarte für morgen früh kaufen?"
BROKEN = ("the cafÃ© at the quay", "it\u2019s \ufffd here", "theyâ€™re late", "a bell \x07 rang")


def invented(seed: int = 3) -> list[dict[str, Any]]:
    """Make up dialogues, some of which have something wrong."""
    dice, dialogues = random.Random(seed), []  # noqa: S311
    for number in range(400):
        turns = [
            {
                "role": ("guest", "desk")[place % 2],
                "who": f"guest {dice.randrange(90)}" if place % 2 == 0 else f"desk {dice.randrange(3)}",
                "text": " ".join(dice.choices(WORDS, k=dice.randrange(3, 12))) + f" {dice.random():.12f}",
                "at": f"2026-03-{1 + number % 28:02} 10:{place:02}:{dice.randrange(60):02}",
            }
            for place in range(dice.randrange(1, 9))
        ]
        dialogues.append({"id": f"q{number}", "language": "en", "turns": turns})
    for dialogue in dice.sample(dialogues, 60):
        turn = dice.choice(dialogue["turns"])
        turn["text"] = dice.choice(["", " ", "...", TEMPLATE.format(dice.randrange(900)), *BROKEN, "long " * 400])
        turn["at"] = dice.choice([turn["at"], "2026-01-01 00:00:00"])
    for dialogue in dice.sample(dialogues, 40):
        dialogue["turns"].append(
            {"role": "desk", "who": "desk 0", "text": TEMPLATE.format(dice.randrange(900)), "at": "2026-04-01 00:00:00"}
        )
    for dialogue in dice.sample(dialogues, 12):
        for turn in dialogue["turns"]:
            turn.update(dice.choice([{"text": ""}, {"at": "2026-02-02 02:02:02"}, {"role": "guest", "who": "guest 1"}]))
    for dialogue in dice.sample(dialogues, 9):
        dialogues.append({**dialogue, "id": f"{dialogue['id']}-again"})
    dialogues.append({"id": "deutsch", "language": "en", "turns": [{**dialogues[0]["turns"][0], "text": GERMAN}] * 2})
    return dialogues


def has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


def expected(dialogues: list[dict[str, Any]]) -> dict[str, int]:
    """Count in plain Python what the checks count."""
    turns = [turn for dialogue in dialogues for turn in dialogue["turns"]]
    texts, copies = defaultdict(set), Counter()
    for dialogue in dialogues:
        if any(turn["text"] for turn in dialogue["turns"]):
            copies[tuple((turn["role"], turn["text"]) for turn in dialogue["turns"])] += 1
        for turn in dialogue["turns"]:
            if len(turn["text"]) >= 20:
                texts[re.sub("[0-9]+", "0", turn["text"])].add(dialogue["id"])
    lengths = sorted(len(turn["text"]) for turn in turns)
    place = 0.9 * (len(lengths) - 1)
    ninth = lengths[int(place)] + (place % 1) * (lengths[int(place) + 1] - lengths[int(place)])
    wordy = [[turn for turn in dialogue["turns"] if has_words(turn["text"])] for dialogue in dialogues]
    busy = Counter(turn["who"] for turn in turns)
    return {
        "repeated": sum(count - 1 for count in copies.values()),
        "templates": sum(len(where) > 20 for where in texts.values()),
        "empty": sum(not some for some in wordy),
        "one_sided": sum(len(some) > 1 and len({(turn["role"], turn["who"]) for turn in some}) == 1 for some in wordy),
        "short": sum(len(dialogue["turns"]) == 1 for dialogue in dialogues),
        "no_words": sum(not has_words(turn["text"]) for turn in turns),
        "long": sum(len(turn["text"]) > 10 * max(ninth, 20) for turn in turns),
        "broken": sum(turn["text"] in BROKEN for turn in turns),
        "times_back": sum(
            later["at"] < earlier["at"]
            for dialogue in dialogues
            for earlier, later in zip(dialogue["turns"], dialogue["turns"][1:], strict=False)
        ),
        "times_same": sum(
            len(dialogue["turns"]) > 2 and len({turn["at"] for turn in dialogue["turns"]}) == 1
            for dialogue in dialogues
        ),
        "loud": sum(count > len(turns) / 2 for count in busy.values()),
        "language": 1,
        **{check.name: 0 for check in checks() if check.name.startswith("personal_")},
    }


@pytest.fixture(scope="module")
def quay(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """A warehouse of dialogues with planted faults, and the dialogues."""
    root, dialogues = tmp_path_factory.mktemp("quay"), invented()
    folder = root / "data" / "quay"
    folder.mkdir(parents=True)
    (folder / "corpus.toml").write_text(DECLARATION, encoding="utf-8")
    lines = [json.dumps(dialogue, ensure_ascii=False) for dialogue in dialogues]
    (folder / "desk.jsonl").write_text("\n".join(lines), encoding="utf-8")
    build(root / "w.duckdb", Silent(), data=root / "data")
    return root / "w.duckdb", dialogues


def test_counts_are_those_of_plain_python(quay: tuple[Path, list[dict[str, Any]]]) -> None:
    path, dialogues = quay
    with th.open(path) as con:
        found = profile(con, "quay", most=1_000)
    counts = {result.check.name: result.count for result in found.results}
    assert counts == expected(dialogues)
    assert sum(count > 0 for count in counts.values()) >= 10
    assert {case.dialogue_id for case in found.of("language").cases} == {"quay:deutsch"}
    for result in found.results:
        assert len(result.cases) == result.count
        assert len({(case.dialogue_id, case.turn_index) for case in result.cases}) == result.count
        assert result.count <= result.whole


@pytest.mark.slow
def test_the_command_names_what_it_found_and_what_to_do(
    quay: tuple[Path, list[dict[str, Any]]], tmp_path: Path
) -> None:
    path, dialogues = quay
    shown = run("profile", "--db", path)
    assert shown.returncode == 0
    assert "Dialogues that stand twice" in shown.stdout
    data = json.loads(run("profile", "--db", path, "--json").stdout)
    assert {check["check"]: check["count"] for check in data[0]["checks"]} == expected(dialogues)
    of_one = run("profile", "--db", path, "--check", "language", "--corpus", "quay").stdout
    assert "quay:deutsch: declared en, looks like de" in of_one
    assert "what to do" in of_one
    wrong = run("profile", "--db", path, "--check", "languages")
    assert (wrong.returncode, "language" in wrong.stderr) == (2, True)
    assert run("report", "--output", tmp_path / "r.html", "--db", path).returncode == 0
    assert "Dialogues that stand twice" in (tmp_path / "r.html").read_text(encoding="utf-8")
