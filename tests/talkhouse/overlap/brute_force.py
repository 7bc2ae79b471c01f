"""What an overlap has to be, by comparing all pairs in plain Python; slow, and written from the definitions alone."""

import unicodedata
from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import duckdb

_WITHOUT_BLANKS = [
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF)),
    *((0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)),
]
_COMPARED = {
    "turn": ("turn", "candidate"),
    "candidate": ("turn", "candidate"),
    "context": ("context",),
    "dialogue": ("dialogue",),
    "persona": ("persona",),
}
_SHINGLE = {"turn": 2, "candidate": 2, "persona": 2, "context": 3, "dialogue": 3}
_KINDS = ("same", "exact", "normalised", "near", "contains")


def is_letter_without_blanks(character: str) -> bool:
    code = ord(character)
    return unicodedata.category(character)[0] == "L" and any(low <= code <= high for low, high in _WITHOUT_BLANKS)


def tokens(text: str) -> list[str]:
    folded = "".join(
        unicodedata.normalize("NFKC", c)
        if 0xFF01 <= ord(c) <= 0xFF5E or 0xFF65 <= ord(c) <= 0xFF9F or ord(c) == 0x3000
        else c
        for c in text
    )
    lower = "".join("i" if c == "İ" else c.lower() for c in unicodedata.normalize("NFC", folded))
    found, run, is_open = [], "", False
    for character in lower:
        category = unicodedata.category(character)[0]
        if is_letter_without_blanks(character):
            found += [run] if run else []
            found.append(character)
            run, is_open = "", True
        elif category == "M" and is_open:
            found[-1] += character
        elif category in "LMN":
            run, is_open = run + character, False
        else:
            found += [run] if run else []
            run, is_open = "", False
    return [*found, *([run] if run else [])] or [text]


def words(text: str) -> int:
    letters = sum(is_letter_without_blanks(token[0]) for token in tokens(text))
    return len(tokens(text)) - (letters + 1) // 2


class Unit(NamedTuple):
    unit: str
    owner: str
    turn_index: int | None
    text: str


@cache
def _runs(text: str, length: int) -> frozenset[tuple[str, ...]]:
    found = _tokens(text)
    return frozenset(found[at : at + length] for at in range(len(found) - length + 1))


def _order(unit: Unit) -> tuple[bytes, int]:
    return unit.owner.encode(), -1 if unit.turn_index is None else unit.turn_index


def places_of(con: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], set[str]]:
    records = {}
    for record_id, dialogue_id, corpus_id, release, split, subset in con.execute(
        "select record_id, dialogue_id, corpus_id, release, split, subset from main.records"
    ).fetchall():
        last = split if split is not None else subset
        place = None if last is None else "/".join(part for part in (corpus_id, release, last) if part is not None)
        records[record_id] = (dialogue_id, place, split)
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for dialogue_id, place, split in records.values():
        if dialogue_id is not None and split is not None:
            found["dialogue", dialogue_id].add(place)
    for what, table, key in (("candidate", "candidates", "text_id"), ("persona", "persona_uses", "persona_id")):
        for record_id, owner in con.execute(f"select record_id, {key} from main.{table}").fetchall():
            if owner is not None and record_id in records and records[record_id][1] is not None:
                found[what, owner].add(records[record_id][1])
    return found


def units_of(con: duckdb.DuckDBPyConnection) -> list[Unit]:
    turns = defaultdict(list)
    for dialogue_id, turn_index, text in con.execute(
        "select dialogue_id, turn_index, text from main.turns order by dialogue_id, turn_index"
    ).fetchall():
        turns[dialogue_id].append((turn_index, text))
    found = [Unit("turn", owner, at, text) for owner, spoken in turns.items() for at, text in spoken]
    found += [Unit("dialogue", owner, None, "\n".join(text for _, text in spoken)) for owner, spoken in turns.items()]
    for owner, at in con.execute("select distinct dialogue_id, turn_index from main.examples").fetchall():
        if owner is not None and at is not None:
            before = [text for place, text in turns[owner] if place < at][-3:]
            found.append(Unit("context", owner, at, "\n".join(before)))
    for unit, table, key in (("candidate", "texts", "text_id"), ("persona", "personas", "persona_id")):
        rows = con.execute(f"select {key}, text from main.{table}").fetchall()
        found += [Unit(unit, owner, None, text) for owner, text in rows]
    return [unit for unit in found if unit.text]


def templates(units: list[Unit], most: int) -> set[tuple[str, ...]]:
    """Return the shingles and runs of 8 tokens that are in more texts than that."""
    forms = {_tokens(unit.text): unit.text for unit in units}
    size = _SHINGLE[units[0].unit]
    counts = Counter(run for text in forms.values() for run in _runs(text, size) | _runs(text, 8))
    return {run for run, number in counts.items() if number > most}


def matches(
    con: duckdb.DuckDBPyConnection, threshold: Fraction, contains: Fraction, most_texts: int | None = None
) -> list[dict[str, Any]]:
    """With ``most_texts``, what is in more of them is a template's."""
    owners = places_of(con)
    standing: dict[tuple[str, str], list[Unit]] = defaultdict(list)
    thing = {"turn": "dialogue", "context": "dialogue"}
    for unit in units_of(con):
        for place in owners.get((thing.get(unit.unit, unit.unit), unit.owner), ()):
            standing[unit.unit, place].append(unit)
    found = []
    said_often = {
        kind: templates(
            [unit for (other, _), units in standing.items() if other in compared for unit in units], most_texts
        )
        if most_texts
        else set()
        for kind, compared in _COMPARED.items()
    }
    for (kind_of_unit, place), mine in standing.items():
        for (other_kind, other_place), others in standing.items():
            if other_kind in _COMPARED[kind_of_unit]:
                for unit in mine:
                    is_here = other_place != place and unit in others
                    often = said_often[kind_of_unit]
                    row = _best(unit, other_kind, others, threshold, contains, often, is_here=is_here)
                    if row:
                        found.append({"place": place, "other_place": other_place, **row})
    return found


@cache
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(tokens(text))


def _best(
    unit: Unit,
    other_kind: str,
    units: list[Unit],
    threshold: Fraction,
    contains: Fraction,
    said_often: set[tuple[str, ...]],
    *,
    is_here: bool,
) -> dict[str, Any] | None:
    mine = _tokens(unit.text)
    others = [other for other in units if (other.owner, other.unit == unit.unit) != (unit.owner, True)]
    size = _SHINGLE[unit.unit]
    options, count = [], 0
    for other in others:
        its = _tokens(other.text)
        if mine == its:
            kind, shared, total = ("exact" if other.text == unit.text else "normalised"), 1, 1
        else:
            first, two = _runs(unit.text, size), _runs(other.text, size)
            if not (both := first & two):
                continue
            shared, total = len(both), len(first | two)
            if Fraction(shared, total) < threshold:
                continue
            if not (both | _runs(unit.text, 8) & _runs(other.text, 8)) - said_often:
                continue
            kind = "near"
        count += 1
        options.append((_KINDS.index(kind), -Fraction(shared, total), _order(other), other, kind, shared, total))
    if is_here:
        options = [(0, Fraction(-1), _order(unit), unit, "same", 1, 1)]
    if not options and (runs := _runs(unit.text, 8)):
        held = {other: runs & _runs(other.text, 8) - said_often for other in others}
        there = set().union(*held.values()) if held else set()
        if Fraction(len(there), len(runs)) >= contains:
            witness = min(held, key=lambda other: (-len(held[other]), _order(other)))
            options = [(4, Fraction(-1), _order(witness), witness, "contains", len(there), len(runs))]
    if not options:
        return None
    *_, other, kind, shared, total = min(options, key=lambda option: option[:3])
    number = words(unit.text)
    is_short = number < 5 or (number < 13 and count > 10) or set() < _runs(unit.text, 8) <= said_often
    return {
        "unit": unit.unit,
        "owner": unit.owner,
        "turn_index": unit.turn_index,
        "other_unit": other_kind,
        "other_owner": other.owner,
        "other_turn_index": other.turn_index,
        "tokens": len(mine),
        "words": number,
        "kind": kind,
        "shared": shared,
        "total": total,
        "matches": count,
        "is_phrase": is_short and kind != "same" and unit.unit != "persona",
    }


def verdicts(
    con: duckdb.DuckDBPyConnection, found: list[dict[str, Any]], against: set[str]
) -> dict[tuple[Any, ...], str]:
    of_records = {
        record_id: ("/".join(part for part in (corpus_id, release, split or subset) if part is not None), split)
        for record_id, corpus_id, release, split, subset in con.execute(
            "select record_id, corpus_id, release, split, subset from main.records"
        ).fetchall()
    }
    result = {}
    for *key, record_id, dialogue_id, turn_index in con.execute(
        "select corpus_id, task, release, split, example_index, record_id, dialogue_id, turn_index from main.examples"
    ).fetchall():
        place, split = of_records.get(record_id, (None, None))
        if place in against:
            continue
        here = {
            unit: [
                row
                for row in found
                if (row["unit"], row["other_unit"], row["place"], row["owner"]) == (unit, unit, place, dialogue_id)
                and row["turn_index"] == (None if unit == "dialogue" else turn_index)
                and row["other_place"] in against
            ]
            for unit in ("dialogue", "turn", "context")
        }
        is_evidence = {unit: any(not row["is_phrase"] for row in rows) for unit, rows in here.items()}
        if dialogue_id is None or split is None:
            verdict = "unjudged"
        elif is_evidence["dialogue"]:
            verdict = "dialogue"
        elif is_evidence["turn"]:
            verdict = "both" if is_evidence["context"] else "turn"
        elif is_evidence["context"]:
            verdict = "context"
        else:
            verdict = "phrase" if any(here.values()) else "clean"
        result[tuple(key)] = verdict
    return result
