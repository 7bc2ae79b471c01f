"""What belongs to a turn or a record, in a few lines: labels, personas, candidates."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from rich.text import Text

from talkhouse.visible import visible

Row: TypeAlias = dict[str, Any]
Line: TypeAlias = tuple[str, Text]
"""The head of a line, which is its indent or a position, and the text beside it."""

_FEW = 5
"""Up to so many annotators are named; of more, the distribution is shown."""

_FIRST_PERSONAS = 5
_FIRST_CANDIDATES = 3


def labels(rows: Iterable[Row]) -> Iterator[Line]:
    """Yield a line per scheme: each label and its annotator, or the distribution over many annotators."""
    for (persona_set, position, scheme), group in _grouped(rows, "persona_set", "persona_position", "scheme"):
        about = "" if persona_set is None else f" of {persona_set}[{position}]"
        name = f"{scheme.partition('.')[2]}{about}: "
        yield "", Text.assemble((visible(name), "cyan"), visible(_votes(group)))


def personas(rows: Iterable[Row], *, show_all: bool) -> Iterator[Line]:
    """Yield a heading per list of personas, and the first of them, or all."""
    for (name, speaker), group in _grouped(rows, "persona_set", "speaker"):
        owner = f" of {speaker}" if speaker else ""
        yield "", Text(visible(f"personas {name}{owner}: {len(group):,}"), "cyan")
        shown = set(range(len(group) if show_all else _FIRST_PERSONAS))
        yield from _listed([[row] for row in group], shown)


def candidates(rows: Iterable[Row], *, show_all: bool) -> Iterator[Line]:
    """Yield a heading per list of candidates, and the first and the gold ones, or all."""
    for (name,), group in _grouped(rows, "candidate_set"):
        items = [members for _, members in _grouped(group, "position")]
        gold = [index for index, members in enumerate(items) if any(row["is_gold"] for row in members)]
        stated = any(row["is_gold"] is not None for row in group)
        positions = ", ".join(str(items[index][0]["position"]) for index in gold)
        summary = f"gold at {positions}" if gold else "none is gold" if stated else "gold is not stated"
        yield "", Text(visible(f"candidates {name}: {len(items):,}, {summary}"), "cyan")
        shown = set(range(len(items))) if show_all else {*range(_FIRST_CANDIDATES), *gold}
        yield from _listed(items, shown)


def _listed(items: list[list[Row]], shown: set[int]) -> Iterator[Line]:
    """Yield the shown items, each with its position and a star if it is gold, and how many are left out."""
    for index, members in enumerate(items):
        if index in shown:
            is_gold = any(row.get("is_gold") for row in members)
            head = f"{'*' if is_gold else ' '}{members[0]['position']:>4}  "
            yield head, Text(" / ".join(map(_named, members)), "green" if is_gold else "")
    left = len(items) - len(shown & set(range(len(items))))
    if left:
        yield "       ", Text(f"... {left:,} more (--all)", "dim")


def _named(row: Row) -> str:
    """Return a persona or candidate in one line: its text, its picture, and who made it if that is known."""
    text = row["text"] if row["text"] is not None else f"({row['persona_id'] or row.get('text_id')})"
    facts = [fact for fact in (row.get("image_file"), row.get("source")) if fact]
    return visible(" ".join([text, *(f"[{fact}]" for fact in facts)]))


def _votes(rows: list[Row]) -> str:
    annotators = _grouped(rows, "annotator_index")
    if len(annotators) > _FEW:
        counts = "  ".join(f"{label} {count}" for label, count in sorted(Counter(map(_label, rows)).items()))
        number = f"{len(rows):,} labels, " if len(rows) != len(annotators) else ""
        return f"{counts} ({number}{len(annotators):,} annotators)"
    votes = []
    for (index,), group in annotators:
        name = group[0]["annotator_id"] or (f"#{index}" if len(annotators) > 1 else "")
        votes.append(", ".join(map(_label, group)) + (f" ({name})" if name else ""))
    return "; ".join(votes)


def _label(row: Row) -> str:
    label, value = row["label"], row["value"]
    if label is None:
        return "null" if value is None else str(value)
    is_said = value is None or label in (str(value), f"{value:g}")
    return (label or '""') + ("" if is_said else f" {value}")


def _grouped(rows: Iterable[Row], *names: str) -> list[tuple[tuple[Any, ...], list[Row]]]:
    """Group rows by some columns, in the order of their first rows."""
    groups: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    return list(groups.items())


def by_turn(records: list[Row], *, show_all: bool) -> dict[int | None, list[tuple[str, Line]]]:
    """Return by turn (None: the whole dialogue or record) the lines that belong to it, each with its record's name."""
    kinds: dict[str, Callable[[Iterable[Row]], Iterator[Line]]] = {
        "personas": lambda rows: personas(rows, show_all=show_all),
        "candidates": lambda rows: candidates(rows, show_all=show_all),
        "annotations": labels,
    }
    found: defaultdict[int | None, list[tuple[str, Line]]] = defaultdict(list)
    names = record_names([record for record in records if any(record[kind] for kind in kinds)])
    for record in records:
        for kind, lines in kinds.items():
            for (turn_index,), rows in _grouped(record[kind], "turn_index"):
                found[turn_index] += [(names[record["record_id"]], line) for line in lines(rows)]
    return found


_NAMING = (("release",), ("subset",), ("split",), ("release", "subset"), ("subset", "split"), ("release", "split"))


def record_names(records: list[Row]) -> dict[str, str]:
    """Name records by what distinguishes them: release, subset, split, or else their ids; one alone needs no name."""
    if len(records) < 2:
        return {record["record_id"]: "" for record in records}
    for columns in _NAMING:
        values = [tuple(record[column] for column in columns) for record in records]
        if len(set(values)) == len(records) and not any(None in value for value in values):
            return {record["record_id"]: " ".join(value) for record, value in zip(records, values, strict=True)}
    return {record["record_id"]: record["record_id"] for record in records}
