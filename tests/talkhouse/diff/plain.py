"""The same comparison in plain Python, row by row: what a difference has to say of two small states."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from tests.data_files import data_of
from tests.talkhouse.diff.invented import Row, Rows

PLACES = {"turn_index", "record_index", "example_index", "source_file_id", "source_pointer"}
SPLITS = ("split", "standard_split")

KEYS: dict[str, tuple[str, ...]] = data_of(__file__)["keys"]
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
    """Return the differences between two versions of a row."""
    names = old[1].keys() | new[1].keys()
    differing = {name for name in names if identical(old[1].get(name)) != identical(new[1].get(name))}
    if differing & {*SPLITS}:
        return "moved"
    if differing - PLACES:
        return "changed"
    raw = {name for name in names if identical(old[0].get(name)) != identical(new[0].get(name))}
    return "renumbered" if differing or raw else None


def identical(value: Any) -> Any:
    """Return a key that is equal only for identical values."""
    return repr(value)


def mapped(row: Row, ids: dict[str, Ids]) -> Row:
    """Replace the ids of a row by those of the state after."""
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
    """Return the ids in the state after of the dialogues and records of the state before."""
    old, new = (published(rows) for rows in (before, after))
    said_before, said_after = (texts_of(rows) for rows in (before, after))
    pairs: Ids = {}
    pairs.update({key: key for key in old if key in new and said_before[key] == said_after[key]})
    for grouped in (True, False):
        queue = defaultdict(list)
        for key, group in new.items():
            if key not in pairs.values() and said_after[key]:
                queue[said_after[key], group if grouped else None].append(key)
        for key, group in old.items():
            if key not in pairs and said_before[key] and queue[said_before[key], group if grouped else None]:
                pairs[key] = queue[said_before[key], group if grouped else None].pop(0)
    similar(pairs, old, new, said_before, said_after)
    for key in old:
        if key not in pairs and key in new and key not in pairs.values():
            pairs[key] = key
    dialogues = completed(pairs, old, new)
    return dialogues, record_identities(before, after, dialogues)


def similar(pairs: Ids, old: Iterable[str], new: Iterable[str], before: dict[str, Any], after: dict[str, Any]) -> None:
    """Pair what shares at least half of the turns of the longer, the most alike first."""
    found = []
    for place, key in enumerate(old):
        for other_place, other in enumerate(new):
            if key in pairs or other in pairs.values():
                continue
            common = sum((Counter(before[key]) & Counter(after[other])).values())
            longer = max(len(before[key]), len(after[other]))
            if longer and 2 * common >= longer:
                found.append((-common / longer, key != other, place, other_place, key, other))
    for *_, key, other in sorted(found):
        if key not in pairs and other not in pairs.values():
            pairs[key] = other


def record_identities(before: Rows, after: Rows, dialogues: Ids) -> Ids:
    """Pair records by subset, release and dialogue, in published order."""
    old = {row["record_id"]: (dialogues[row["dialogue_id"]], row["split"]) for row in in_order(before["records"])}
    new = {row["record_id"]: (row["dialogue_id"], row["split"]) for row in in_order(after["records"])}
    pairs = {key: key for key in old if key in new and old[key][0] == new[key][0]}
    for width in (2, 1):
        queue = defaultdict(list)
        for key, content in new.items():
            if key not in pairs.values():
                queue[content[:width]].append(key)
        for key, content in old.items():
            if key not in pairs and queue[content[:width]]:
                pairs[key] = queue[content[:width]].pop(0)
    for key in old:
        if key not in pairs and key in new and key not in pairs.values():
            pairs[key] = key
    return completed(pairs, old, new)


def completed(pairs: Ids, old: Iterable[str], new: Iterable[str]) -> Ids:
    """Add what is left, under another name where the state after gives it to something else."""
    there = {*new}
    return {key: pairs.get(key) or (f"{key} (before)" if key in there else key) for key in old}


def in_order(records: list[Row]) -> list[Row]:
    return sorted(records, key=lambda row: (row["split"], row["record_index"]))


def published(rows: Rows) -> dict[str, str]:
    """Return the dialogues in the order of their first publication, each with its split."""
    first: dict[str, str] = {}
    for row in in_order(rows["records"]):
        first.setdefault(row["dialogue_id"], row["split"])
    return first


def texts_of(rows: Rows) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the roles and texts of each dialogue."""
    found: dict[str, list[tuple[str, str]]] = {row["dialogue_id"]: [] for row in rows["dialogues"]}
    for row in sorted(rows["turns"], key=lambda row: row["turn_index"]):
        found[row["dialogue_id"]].append((row["role"], row["text"]))
    return {key: tuple(turns) for key, turns in found.items()}
