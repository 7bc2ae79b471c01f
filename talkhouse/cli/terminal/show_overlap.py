"""An overlap as the command gives it: the matrix of places, verdicts, examples beside what they repeat; and as data."""

from collections.abc import Collection, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from talkhouse.cli.terminal.console import escape, output, print_table
from talkhouse.overlap.request import VERDICTS
from talkhouse.visible import visible

if TYPE_CHECKING:
    from talkhouse.overlap.read import OverlapSummary

_MOST_ROWS = 40
"""Of the matrix; the others are in the file."""

_LONGEST = 300
"""Characters of a text that is shown."""

_OWNERS = {"dialogue": "dialogues", "persona": "personas", "candidate": "candidates"}
"""What two places may have in common as such, the first that is there."""

_KINDS = ("same", "exact", "normalised", "near", "contains")


def as_data(found: "OverlapSummary") -> dict[str, Any]:
    """Return the object that ``--json`` prints; the same for the same input, so without times and paths."""
    return {
        "threshold": found.threshold,
        "contains": found.contains,
        "against": found.against,
        "matrix": found.matrix,
    }


def show(found: "OverlapSummary", worst: Sequence[dict[str, Any]], path: Path) -> None:
    """Print what was found, and where it is kept."""
    rows = [row for row in found.matrix if not found.against or _is_asked(row, found.against)]
    same = _only_same(rows)
    _show_matrix([row for row in rows if (row["place"], row["other_place"]) not in same])
    for line in same.values():
        output.print(escape(visible(line)), soft_wrap=True)
    if found.verdicts:
        _show_verdicts(found)
    for example in worst:
        _show_example(example)
    output.print(f"\nAll of it is in {escape(visible(str(path)))}", soft_wrap=True)


def _is_asked(row: dict[str, Any], against: Collection[str]) -> bool:
    return row["place"] not in against and row["other_place"] in against


def _only_same(rows: Sequence[dict[str, Any]]) -> dict[tuple[str, str], str]:
    """Return a sentence for each pair of places that have nothing in common but what stands in both itself."""
    told = {}
    for pair, some in groupby(sorted(rows, key=_pair), key=_pair):
        parts = {row["unit"]: row for row in some if row["unit"] == row["other_unit"]}
        of = next((unit for unit in _OWNERS if unit in parts), None)
        if of is None or any(row["same"] < row["affected"] or row["phrases"] for row in parts.values()):
            continue
        count, units = parts[of]["same"], parts[of]["units"]
        is_all = "is" if count == units else "has some of"
        told[pair] = f"{pair[0]} {is_all} {pair[1]}: {count:,} of {units:,} {_OWNERS[of]}"
    return told


def _pair(row: dict[str, Any]) -> tuple[str, str]:
    return row["place"], row["other_place"]


def _show_matrix(rows: Sequence[dict[str, Any]]) -> None:
    """Print a row for each two places, the most affected first."""
    affected = sorted(
        (row for row in rows if row["affected"]),
        key=lambda row: (-row["affected"], row["unit"], row["place"], row["other_unit"], row["other_place"]),
    )
    if not affected:
        phrases = sum(row["phrases"] for row in rows)
        output.print(f"No text stands in two places, but for {phrases:,} matches that are phrases.", soft_wrap=True)
        return
    heads = ["unit", "of", "stands in", "units", "affected", "share", *_KINDS, "phrases"]
    cells = [
        [
            visible(row["unit"] if row["unit"] == row["other_unit"] else f"{row['unit']}, as {row['other_unit']}"),
            visible(row["place"]),
            "itself, again" if row["place"] == row["other_place"] else visible(row["other_place"]),
            f"{row['units']:,}",
            f"{row['affected']:,}",
            f"{row['affected'] / row['units']:.1%}",
            *(f"{row[kind]:,}" for kind in (*_KINDS, "phrases")),
        ]
        for row in affected[:_MOST_ROWS]
    ]
    print_table(heads, cells, right=heads[3:])
    if len(affected) > _MOST_ROWS:
        output.print(f"{len(affected) - _MOST_ROWS:,} more rows are in its view matrix.", soft_wrap=True)


def _show_verdicts(found: "OverlapSummary") -> None:
    """Print how many examples of each split have which verdict, for splits in which something is met."""
    output.print(f"\nExamples, against {escape(visible(', '.join(found.against)))}:", soft_wrap=True)
    heads = ["task", "release", "split", "examples", *VERDICTS]
    met = [row for row in found.verdicts if row["examples"] > row["clean"] + row["unjudged"]]
    cells = [
        [
            visible(f"{row['corpus_id']}.{row['task']}"),
            visible(row["release"] or ""),
            visible(row["split"] or ""),
            *(f"{row[name]:,}" for name in ("examples", *VERDICTS)),
        ]
        for row in met
    ]
    if met:
        print_table(heads, cells, right=heads[3:])
    if others := len(found.verdicts) - len(met):
        output.print(f"In {others:,} other splits of tasks, all examples are clean or unjudged.", soft_wrap=True)


def _show_example(example: dict[str, Any]) -> None:
    """Print an example beside what it repeats."""
    at = "" if example["unit"] == "dialogue" else f" turn {example['turn_index']}"
    other_at = "" if example["unit"] == "dialogue" else f" turn {example['other_turn_index']}"
    alike = f" {example['shared']}/{example['total']}" if example["kind"] in ("near", "contains") else ""
    lines = [
        f"{example['corpus_id']}.{example['task']} {example['split'] or ''} {example['example_index']}: its "
        f"{example['unit']} stands in {example['other_place']}, {example['kind']}{alike}",
        f"  {example['dialogue_id']}{at}: {_cut(example['text'])}",
        f"  {example['other_owner']}{other_at}: {_cut(example['other_text'])}",
    ]
    output.print()
    for line in lines:
        output.print(escape(visible(line)), soft_wrap=True)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
