"""The same comparison in plain Python, row by row: what a difference has to say of two small states."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from tests.talkhouse.diff.invented import Row, Rows

PLACES = {"turn_index", "record_index", "example_index", "source_file_id", "source_pointer"}
SPLITS = ("split", "standard_split")

KEYS: dict[str, tuple[str, ...]] = {
    "dialogues": ("dialogue_id",),
    "turns": ("dialogue_id", "turn_index"),
    "speakers": ("speaker_id",),
    "participants": ("dialogue_id", "speaker_id"),
    "records": ("record_id",),
    "annotations": ("record_id", "turn_index", "scheme", "annotator_index", "item_index"),
    "examples": ("task", "release", "record_id", "turn_index"),
    "mood": ("release", "record_id", "turn_index"),
}
NUMBERED = ("examples", "mood")

Ids = dict[str, str]


def expected(before: Rows, after: Rows) -> dict[str, Counter[str]]:
    """Count the rows of each table by what became of them; a task's also by split, as in ``mood train``."""
    dialogues, records = identities(before, after)
    speakers = {}
    for row in before["speakers"]:
        dialogue, _, rest = row["speaker_id"].partition("/")
        speakers[row["speaker_id"]] = f"{dialogues[dialogue]}/{rest}"
    ids = {"dialogue_id": dialogues, "record_id": records, "speaker_id": speakers}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for table, key in KEYS.items():
        old = numbered([(row, mapped(row, ids)) for row in before[table]], key, numbers=table in NUMBERED)
        new = numbered([(row, row) for row in after[table]], key, numbers=table in NUMBERED)
        for place in old.keys() | new.keys():
            for name, change in changes(table, old.get(place), new.get(place)):
                counts[name][change] += 1
    return counts


def changes(table: str, old: tuple[Row, Row] | None, new: tuple[Row, Row] | None) -> Iterable[tuple[str, str]]:
    """Yield what a row counts as, and where."""
    is_task = table == "mood"
    there = f"{table} {old[0]['split']}" if is_task and old else table
    here = f"{table} {new[0]['split']}" if is_task and new else table
    if old:
        yield there, "before"
    if new:
        yield here, "after"
    if old is None or new is None:
        yield (here, "added") if old is None else (there, "removed")
        return
    change = kind(old, new)
    if change:
        yield here, change
    if change == "moved" and is_task and there != here:
        yield here, "moved_in"
        yield there, "moved_out"


def kind(old: tuple[Row, Row], new: tuple[Row, Row]) -> str | None:
    """Return how two rows that are one differ."""
    names = old[1].keys() | new[1].keys()
    differing = {name for name in names if identical(old[1].get(name)) != identical(new[1].get(name))}
    if differing & {*SPLITS}:
        return "moved"
    if differing - PLACES:
        return "changed"
    raw = {name for name in names if identical(old[0].get(name)) != identical(new[0].get(name))}
    return "renumbered" if differing or raw else None


def identical(value: Any) -> Any:
    """Return what is equal only for identical values."""
    return repr(value)


def mapped(row: Row, ids: dict[str, Ids]) -> Row:
    """Give a row the ids that the state after has."""
    return {name: ids[name][value] if name in ids else value for name, value in row.items()}


def numbered(
    rows: list[tuple[Row, Row]], key: tuple[str, ...], *, numbers: bool
) -> dict[tuple[Any, ...], tuple[Row, Row]]:
    """Return rows by their keys, and a running number where one key has several."""
    found: dict[tuple[Any, ...], tuple[Row, Row]] = {}
    times: Counter[tuple[Any, ...]] = Counter()
    if numbers:
        rows = sorted(rows, key=lambda row: (row[1]["split"], row[1]["example_index"]))
    for pair in rows:
        place = tuple(pair[1][name] for name in key)
        found[*place, times[place]] = pair
        times[place] += 1
    return found


def identities(before: Rows, after: Rows) -> tuple[Ids, Ids]:
    """Return what the state after calls the dialogues and the records of the state before."""
    old, new = (published(rows) for rows in (before, after))
    said_before, said_after = (said(rows) for rows in (before, after))
    pairs: Ids = {}
    pairs.update({one: one for one in old if one in new and said_before[one] == said_after[one]})
    for grouped in (True, False):
        queue = defaultdict(list)
        for one, group in new.items():
            if one not in pairs.values() and said_after[one]:
                queue[said_after[one], group if grouped else None].append(one)
        for one, group in old.items():
            if one not in pairs and said_before[one] and queue[said_before[one], group if grouped else None]:
                pairs[one] = queue[said_before[one], group if grouped else None].pop(0)
    similar(pairs, old, new, said_before, said_after)
    for one in old:
        if one not in pairs and one in new and one not in pairs.values():
            pairs[one] = one
    dialogues = completed(pairs, old, new)
    return dialogues, record_identities(before, after, dialogues)


def similar(pairs: Ids, old: Iterable[str], new: Iterable[str], before: dict[str, Any], after: dict[str, Any]) -> None:
    """Pair what shares at least half of the turns of the longer, the most alike first."""
    found = []
    for place, one in enumerate(old):
        for other_place, other in enumerate(new):
            if one in pairs or other in pairs.values():
                continue
            common = sum((Counter(before[one]) & Counter(after[other])).values())
            longer = max(len(before[one]), len(after[other]))
            if longer and 2 * common >= longer:
                found.append((-common / longer, one != other, place, other_place, one, other))
    for *_, one, other in sorted(found):
        if one not in pairs and other not in pairs.values():
            pairs[one] = other


def record_identities(before: Rows, after: Rows, dialogues: Ids) -> Ids:
    """Pair records by subset, release and dialogue, in published order."""
    old = {row["record_id"]: (dialogues[row["dialogue_id"]], row["split"]) for row in in_order(before["records"])}
    new = {row["record_id"]: (row["dialogue_id"], row["split"]) for row in in_order(after["records"])}
    pairs = {one: one for one in old if one in new and old[one][0] == new[one][0]}
    for width in (2, 1):
        queue = defaultdict(list)
        for one, content in new.items():
            if one not in pairs.values():
                queue[content[:width]].append(one)
        for one, content in old.items():
            if one not in pairs and queue[content[:width]]:
                pairs[one] = queue[content[:width]].pop(0)
    for one in old:
        if one not in pairs and one in new and one not in pairs.values():
            pairs[one] = one
    return completed(pairs, old, new)


def completed(pairs: Ids, old: Iterable[str], new: Iterable[str]) -> Ids:
    """Add what is left, under another name where the state after gives it to something else."""
    there = {*new}
    return {one: pairs.get(one) or (f"{one} (before)" if one in there else one) for one in old}


def in_order(records: list[Row]) -> list[Row]:
    return sorted(records, key=lambda row: (row["split"], row["record_index"]))


def published(rows: Rows) -> dict[str, str]:
    """Return the dialogues in the order of their first publication, each with its split."""
    first: dict[str, str] = {}
    for row in in_order(rows["records"]):
        first.setdefault(row["dialogue_id"], row["split"])
    return first


def said(rows: Rows) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the roles and texts of each dialogue."""
    found: dict[str, list[tuple[str, str]]] = {row["dialogue_id"]: [] for row in rows["dialogues"]}
    for row in sorted(rows["turns"], key=lambda row: row["turn_index"]):
        found[row["dialogue_id"]].append((row["role"], row["text"]))
    return {one: tuple(turns) for one, turns in found.items()}
