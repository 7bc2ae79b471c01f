"""One invented JSON object of dialogues, of any size."""

import json
import random
from pathlib import Path


def write_file(path: Path, megabytes: float) -> int:
    """Write one JSON object of invented dialogues, keyed "0", "1" ...; return their number."""
    syllables = ("ba", "ke", "mo", "tu", "ri", "é", "lan", "do", "sh", "\n")
    words = [first + second for first in syllables for second in syllables]
    chance = random.Random(11)
    number = 0
    with path.open("w", encoding="utf-8") as stream:
        stream.write("{")
        while stream.tell() < megabytes * 1e6:
            utterances = [
                {
                    "actor_type": "user" if position % 2 else "agent",
                    "utterance": " ".join(chance.choices(words, k=80)),
                    "utterance_pos": position,
                    "votes": str(chance.randrange(9)),
                }
                for position in range(1, 7)
            ]
            talk = {"category": "toys", "title": f"talk {number}", "utterances": utterances}
            stream.write(("," if number else "") + f'"{number}":' + json.dumps(talk, ensure_ascii=False))
            number += 1
        stream.write("}")
    return number
