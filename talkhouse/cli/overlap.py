"""``talkhouse overlap``: which texts occur in two places, word for word or nearly."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import escape, output, print_table
from talkhouse.cli.terminal.progress import ProgressBar
from talkhouse.escaping import visible, visible_json
from talkhouse.overlap.request import LEAST_THRESHOLD, VERDICTS, OverlapRequest, Unit, share
from talkhouse.settings import database

if TYPE_CHECKING:
    from talkhouse.overlap.read import OverlapSummary


_WORST = 5
"""Examples that are shown."""


@options.command
@options.against
@click.option("--threshold", metavar="T", default="0.7", help="Similarity from which two texts are near: 0.5 to 1.")
@click.option(
    "--contains",
    metavar="SHARE",
    default="0.7",
    help="Share of its runs of 8 tokens that makes a text contained: above 0, to 1.",
)
@click.option(
    "--unit",
    "units",
    type=options.OneOf(Unit),
    multiple=True,
    help="Compare only these (may be repeated). Default: all.",
)
@options.path("--pairs", metavar="FILE", help="Write all pairs, not the best alone; the ending sets the format.")
@options.path("--output", metavar="FILE", help="The file to write. Default: NAME.overlap.duckdb next to the warehouse.")
@options.as_json
@click.option("--threads", metavar="N", type=click.IntRange(1, 1024), help="Threads that DuckDB uses. Default: all.")
@options.memory_limit()
@options.force
@options.db
def command(
    against: tuple[str, ...],
    threshold: str,
    contains: str,
    units: tuple[Unit, ...],
    pairs: Path | None,
    output: Path | None,
    as_json: bool,
    threads: int | None,
    memory_limit: str | None,
    force: bool,
    db: Path | None,
) -> None:
    """Find texts that occur in two places: test answers in training data, your own dialogues in a benchmark.

    A place is a split of a publisher's release of a corpus, such as dbdc3/dbdc3/eval. All places are compared with each
    other and with themselves: turns with turns and candidates, contexts of examples, whole dialogues, personas. The
    result is written to NAME.overlap.duckdb next to the warehouse NAME.duckdb, which itself is not changed: for each
    unit and place the best match, and how many there are. It contains keys and no text.

    A match is the first of these that holds: same (the dialogue itself is in both places), exact (the same characters),
    normalised (the same words in the same order), near (most pairs of neighbouring words are in both), contains (most
    of its runs of 8 words stand there, in one text or several). Every pair at or above the threshold is found: nothing
    is drawn at random, and the same input gives the same rows. Short and stereotyped texts are phrases, which are
    counted separately: two people saying "thank you" is no evidence. docs/overlap.md explains it.

    With --against, each example of the other places gets a verdict (dialogue, both, turn, context, phrase, clean), and
    some of the worst are shown. An existing file of this warehouse with the same thresholds is used again; --force
    computes it anew, and also replaces a file that Talkhouse did not write.

    Examples:
        talkhouse overlap
        talkhouse overlap --against dbdc3/dbdc3/dev
        talkhouse overlap --against my_logs --unit turn --unit context --json
    """
    from talkhouse.overlap.compute import overlap
    from talkhouse.overlap.read import read, with_texts
    from talkhouse.system.memory import MemoryLimit
    from talkhouse.warehouse.opened import opened

    request = OverlapRequest(
        against,
        share("--threshold", threshold, LEAST_THRESHOLD),
        share("--contains", contains, None),
        units or tuple(Unit),
        pairs=pairs,
        output=output,
        threads=threads,
        memory_limit=None if memory_limit is None else MemoryLimit(memory_limit).text,
        force=force,
    )
    with ProgressBar() as progress:
        path = overlap(database(db), request, progress)
    if as_json:
        print(visible_json(as_data(read(path))))
        return
    found = read(path, worst=_WORST)
    with opened(database(db)) as warehouse:
        shown = with_texts(warehouse.con, found.worst)
    show(found, shown, path)


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
        **({"templates": found.templates} if found.templates else {}),
    }


def show(found: "OverlapSummary", worst: Sequence[dict[str, Any]], path: Path) -> None:
    """Print what was found, and where it is kept."""
    from talkhouse.overlap.quotations import MOST_TEXTS, RUN

    rows, against = found.matrix, found.against
    if against:
        rows = [row for row in rows if row["place"] not in against and row["other_place"] in against]
    same = _only_same(rows)
    _show_matrix([row for row in rows if (row["place"], row["other_place"]) not in same])
    for line in same.values():
        output.print(escape(visible(line)))
    if found.verdicts:
        _show_verdicts(found)
    for example in worst:
        _show_example(example)
    for units, number in found.templates.items():
        output.print(
            f"\nUnit {units}: all pairs would be too many. A run of {RUN} tokens in more than {MOST_TEXTS} texts is a "
            f"template's and no evidence; {number:,} texts are nothing else."
        )
    output.print(f"\nThe full result is in {escape(visible(str(path)))}")


def _only_same(rows: Sequence[dict[str, Any]]) -> dict[tuple[str, str], str]:
    """Return a sentence for each pair of places that have nothing in common but what stands in both itself."""
    sentences = {}
    for pair, some in groupby(sorted(rows, key=_pair), key=_pair):
        parts = {row["unit"]: row for row in some if row["unit"] == row["other_unit"]}
        of = next((unit for unit in _OWNERS if unit in parts), None)
        if of is None or any(row["same"] < row["affected"] or row["phrases"] for row in parts.values()):
            continue
        count, units = parts[of]["same"], parts[of]["units"]
        is_all = "is" if count == units else "has some of"
        sentences[pair] = f"{pair[0]} {is_all} {pair[1]}: {count:,} of {units:,} {_OWNERS[of]}"
    return sentences


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
        output.print(f"No text occurs in two places, apart from {phrases:,} matches of phrases.")
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
        output.print(f"{len(affected) - _MOST_ROWS:,} more rows are in the view matrix of the file.")


def _show_verdicts(found: "OverlapSummary") -> None:
    """Print how many examples of each split have which verdict, for splits in which something is met."""
    output.print(f"\nExamples, against {escape(visible(', '.join(found.against)))}:")
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
        output.print(f"In {others:,} other splits of tasks, all examples are clean or unjudged.")


def _show_example(example: dict[str, Any]) -> None:
    """Print an example next to what it repeats."""
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
        output.print(escape(visible(line)))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
