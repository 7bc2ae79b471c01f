"""Invented files of one's own dialogues: chats of long messages, chats of many short ones, and a table of turns."""

import csv
import json
import random
from pathlib import Path

_SYLLABLES = ("an", "be", "co", "da", "el", "fi", "go", "hu", "in", "jo", "ka", "lo", "mi", "ne", "or", "pa", "ri")
_WORDS = ["".join(random.Random(number).choices(_SYLLABLES, k=1 + number % 4)) for number in range(4_000)]
_FOREIGN = ["é", "🍳", "über", "naïve", "鍋"]


def chat(path: Path, megabytes: float, *, messages: tuple[int, int], words: tuple[int, int]) -> None:
    """Write a chat log as JSON Lines; every other record has its letters beyond ASCII as escapes."""
    chance = random.Random(32)
    with path.open("w", encoding="utf-8") as stream:
        number = 0
        while stream.tell() < megabytes * 1e6:
            said = []
            for index in range(chance.randint(*messages)):
                text = " ".join(chance.choices(_WORDS, k=chance.randint(*words)))
                if chance.random() < 0.2:
                    text += " " + chance.choice(_FOREIGN)
                said.append({"role": ("user", "assistant")[index % 2], "content": text})
            record = {"id": f"k-{number:07}", "messages": said}
            stream.write(json.dumps(record, ensure_ascii=number % 2 == 0) + "\n")
            number += 1


def table(path: Path, rows: int) -> None:
    """Write a CSV of turns: 20 a dialogue, some cells quoted."""
    chance = random.Random(32)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["conv_id", "utt_id", "speaker", "time", "utterance"])
        for number in range(rows):
            text = " ".join(chance.choices(_WORDS, k=chance.randint(4, 16))) + (", please" if number % 5 == 0 else "")
            row = [
                f"c{number // 20:06}",
                f"u{number % 20}",
                ("ann", "bo")[number % 2],
                f"2026-01-02 10:{number % 60:02}",
            ]
            writer.writerow([*row, text])
