"""Invented files of one's own dialogues in the shape of each format; sizes in megabytes."""

import csv
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_SYLLABLES = ("an", "be", "co", "da", "el", "fi", "go", "hu", "in", "jo", "ka", "lo", "mi", "ne", "or", "pa", "ri")
_WORDS = ["".join(random.Random(number).choices(_SYLLABLES, k=1 + number % 4)) for number in range(4_000)]
_FOREIGN = ["é", "🍳", "über", "naïve", "鍋"]


class Inventor:
    """Invents records from one seed."""

    def __init__(self) -> None:
        self._chance = random.Random(32)

    def text(self, fewest: int = 4, most: int = 40) -> str:
        """Invent a text of so many words; every fifth has a letter beyond ASCII."""
        words = " ".join(self._chance.choices(_WORDS, k=self._chance.randint(fewest, most)))
        return f"{words} {self._chance.choice(_FOREIGN)}" if self._chance.random() < 0.2 else words

    def long(self, number: int) -> dict[str, Any]:
        """Invent a chat of long messages."""
        return self._chat(number, (1, 10), (80, 240))

    def short(self, number: int) -> dict[str, Any]:
        """Invent a chat of many short messages."""
        return self._chat(number, (10, 20), (4, 16))

    def named(self, number: int) -> dict[str, Any]:
        """Invent a chat of which each message has a name and a time."""
        talk = self._chat(number, (4, 12), (4, 24))
        names = self._chance.choices(_WORDS, k=2)
        for index, message in enumerate(talk["messages"]):
            message |= {"name": names[index % 2], "at": f"2026-01-{1 + number % 28:02}T10:{index:02}:00Z"}
        return talk

    def _chat(self, number: int, messages: tuple[int, int], words: tuple[int, int]) -> dict[str, Any]:
        count = self._chance.randint(*messages)
        said = [{"role": ("user", "assistant")[index % 2], "content": self.text(*words)} for index in range(count)]
        return {"id": f"k-{number:07}", "messages": said}

    def pairs(self, _: int) -> dict[str, Any]:
        """Invent an instruction and its answer."""
        query = self.text() if self._chance.random() < 0.4 else ""
        return {"instruction": self.text(), "input": query, "output": self.text(20, 200)}

    def preference(self, _: int) -> dict[str, Any]:
        """Invent a prompt with a chosen and a rejected answer."""
        return {"prompt": self.text(), "chosen": self.text(20, 120), "rejected": self.text(20, 120)}

    def transcript(self, number: int) -> dict[str, Any]:
        """Invent a dialogue as one text."""
        said = [
            f"\n\n{('Human', 'Assistant')[index % 2]}: {self.text()}" for index in range(self._chance.randint(2, 8))
        ]
        return {"id": number, "text": "".join(said)}

    def tree(self, number: int) -> dict[str, Any]:
        """Invent a message with the replies to it."""
        return {"message_tree_id": f"t{number}", "prompt": self._message(f"t{number}", 0)}

    def _message(self, name: str, depth: int) -> dict[str, Any]:
        replies = [self._message(f"{name}.{place}", depth + 1) for place in range(self._chance.randint(0, 3 - depth))]
        role = ("prompter", "assistant")[depth % 2]
        return {"message_id": name, "text": self.text(), "role": role, "lang": "en", "rank": depth, "replies": replies}

    def dialogue(self, number: int) -> dict[str, Any]:
        """Invent a dialogue with frames and spans."""
        turns = []
        for index in range(self._chance.randint(4, 16)):
            text = self.text()
            slots = [{"slot": "place", "start": 0, "exclusive_end": len(text.split()[0])}]
            turns.append({"speaker": ("USER", "SYSTEM")[index % 2], "utterance": text, "frames": [{"slots": slots}]})
        return {"dialogue_id": f"{number}_0", "services": ["Rooms"], "turns": turns}


def lines(path: Path, megabytes: float, invent: Callable[[int], dict[str, Any]]) -> None:
    """Write JSON Lines; every other record has its letters beyond ASCII as escapes."""
    with path.open("w", encoding="utf-8") as stream:
        number = 0
        while stream.tell() < megabytes * 1e6:
            stream.write(json.dumps(invent(number), ensure_ascii=number % 2 == 0) + "\n")
            number += 1


def table(path: Path, rows: int) -> None:
    """Write a CSV of turns: 20 a dialogue, some cells quoted."""
    inventor = Inventor()
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["conv_id", "utt_id", "speaker", "time", "utterance"])
        for number in range(rows):
            text = inventor.text(4, 16) + (", please" if number % 5 == 0 else "")
            row = [
                f"c{number // 20:06}",
                f"u{number % 20}",
                ("ann", "bo")[number % 2],
                f"2026-01-02 10:{number % 60:02}",
            ]
            writer.writerow([*row, text])


def convokit(folder: Path, megabytes: float) -> None:
    """Write a ConvoKit folder, whose utterances have so many megabytes."""
    folder.mkdir()

    def utterance(number: int) -> dict[str, Any]:
        root = number // 10 * 10
        reply = None if number == root else f"u{number - 1}"
        names = {"id": f"u{number}", "conversation_id": f"u{root}", "speaker": f"s{number % 997}"}
        return {**names, "text": inventor.text(), "reply-to": reply, "timestamp": number, "meta": {"score": number % 7}}

    inventor = Inventor()
    lines(folder / "utterances.jsonl", megabytes, utterance)
    people = {f"s{number}": {"meta": {}, "vectors": []} for number in range(997)}
    for name, content in (("speakers", people), ("conversations", {}), ("corpus", {}), ("index", {"version": 1})):
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


def formats(inventor: Inventor) -> Iterator[tuple[str, Callable[[int], dict[str, Any]]]]:
    """Yield the kinds of JSON Lines, each with what invents a record."""
    for kind in ("long", "short", "pairs", "preference", "transcript", "tree", "dialogue"):
        yield kind, getattr(inventor, kind)
