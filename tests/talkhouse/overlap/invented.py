"""Warehouses of invented texts that repeat each other in every way, of many scripts."""

import random
import shutil
from pathlib import Path

import duckdb

from tests.data_files import data_of

DATA = data_of(__file__)

_WORDS = (
    *("ferry", "island", "ticket", "harbour", "seven", "morning", "the", "to", "a", "dog", "lamp", "STRAßE", "Ärger"),
    *("café", "cafe\u0301", "won't", "İzmir", "ﬁne", "ＷＩＤＥ", "７", "x²", "ΟΔΟΣ", "2nd", "ok"),  # noqa: RUF001
    *("مرحبا", "شُكْرًا", "كتاب", "안녕", "한국어", "नमस्ते"),
    *("ไทย", "สวัสดี", "日曜日", "船", "ｶﾞｲﾄﾞ", "ありがとう", "မြန်မာ", "ខ្មែរ", "๑๒", "𠮷"),
    *("😀", "👍🏽", "?!", "...", "—", "\u3000", "\x00"),
)
_PLACES = (
    *(("harbour", None, "train", None), ("harbour", None, "test", None), ("harbour", "second", "test", "part")),
    *(("quay_logs", None, "all", None), ("quay_logs", None, None, "lists"), ("pier", None, None, None)),
)
"""Corpus, release, split and subset of records."""

_EMPTIED = (
    *("annotations", "candidates", "dialogues", "examples", "persona_uses", "personas", "records", "texts", "turns"),
    "participants",
)


def _text(rng: random.Random, before: list[str]) -> str:
    how = rng.random()
    if how < 0.03:
        return ""
    if before and how < 0.25:
        return rng.choice(before)
    if before and how < 0.35:
        return rng.choice(before).upper() + rng.choice(["", "!", " "])
    if before and how < 0.65:
        words = rng.choice(before).split(" ")
        words[rng.randrange(len(words))] = rng.choice(_WORDS)
        return " ".join(words)
    if len(before) > 1 and how < 0.75:
        return " ".join(rng.sample(before, 2))
    if how < 0.85:
        return rng.choice(["ok", "Ok!", "thank you so much indeed", "Thank you so much, indeed."])
    return " ".join(rng.choice(_WORDS) for _ in range(rng.choice([1, 3, 6, 12, 20])))


def invent(from_warehouse: Path, to: Path, seed: int, *, dialogues: int = 30) -> Path:
    rng = random.Random(seed)  # noqa: S311
    shutil.copyfile(from_warehouse, to)
    to.chmod(0o644)
    rows: dict[str, list[tuple[object, ...]]] = {name: [] for name in _EMPTIED}
    texts: list[str] = []

    def say() -> str:
        texts.append(_text(rng, [text for text in texts if text]))
        return texts[-1]

    def record(place: tuple[str | None, ...], dialogue_id: str | None) -> str:
        record_id = f"{place[0]}/{len(rows['records'])}"
        rows["records"].append((record_id, dialogue_id, *place))
        return record_id

    for number in range(dialogues):
        turns = [say() for _ in range(rng.randint(1, 6))]
        if number and rng.random() < 0.2:  # the same talk again, under another id
            turns = [text for owner, _, text in rows["turns"] if owner == f"harbour:{number - 1}"] or turns
        dialogue_id = f"harbour:{number}"
        rows["turns"] += [(dialogue_id, index, text) for index, text in enumerate(turns)]
        for place in rng.sample(_PLACES, rng.choice([1, 1, 2])):
            record_id = record(place, dialogue_id)
            key = (place[0], "reply", *place[1:3])
            for index in [*range(1, len(turns)), None]:
                rows["examples"].append((*key, len(rows["examples"]), record_id, dialogue_id, index))
    rows["examples"].append(
        ("pier", "reply", None, "train", len(rows["examples"]), record(_PLACES[0], None), None, None)
    )
    for number in range(dialogues // 3):
        rows["texts"].append((f"harbour:t{number}", "harbour", say()))
        rows["personas"].append((f"harbour:p{number}", "harbour", say()))
        for place in rng.sample(_PLACES, 2):
            rows["candidates"].append((record(place, None), number, f"harbour:t{number}"))
            rows["persona_uses"].append((record(place, None), number, f"harbour:p{number}"))
    with duckdb.connect(to) as con:
        for table in _EMPTIED:
            con.execute(f"delete from main.{table}")
        for table, columns in _COLUMNS.items():
            rng.shuffle(rows[table])
            con.executemany(f"insert into main.{table} ({columns}) values ({_VALUES[table]})", rows[table])
    return to


_COLUMNS = DATA["columns"]
_VALUES = DATA["values"]
