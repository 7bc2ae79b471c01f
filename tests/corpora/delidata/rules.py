"""The tasks of DeliData in plain Python, from the raw text of the files: written from the rules, not from our SQL."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from talkhouse.ingest.files.skipped import skip_reason

HEADER = (
    "group_id\tmessage_id\tmessage_type\torigin\toriginal_text\tclean_text\tannotation_type\tannotation_target\t"
    "annotation_additional\tteam_performance\tperformance_change\tsol_tracker_message\tsol_tracker_all"
)
TASKS = ("deliberation_type", "probing_target", "nonprobing_target", "probing_generation", "change_of_mind", "outcome")


@dataclass(frozen=True)
class Group:
    """One file: its name, and its rows by the names of the header."""

    name: str
    rows: list[dict[str, str]]

    @property
    def named(self) -> list[str]:
        """The aliases of the INITIAL row, SYSTEM too."""
        return self.rows[0]["original_text"].split("&&")[0].split(",")


def parse(name: str, text: str) -> Group:
    """Split a file at line ends and tabs, and nowhere else."""
    header, *lines = text.removesuffix("\n").split("\n")
    assert header == HEADER
    names = header.split("\t")
    return Group(name, [dict(zip(names, line.split("\t"), strict=True)) for line in lines])


def read(folder: Path) -> list[Group]:
    paths = sorted((folder / "delidata_corpus").iterdir(), key=lambda path: path.name)
    files = [path for path in paths if path.is_file() and not skip_reason(path.name)]
    return [parse(path.name, path.read_bytes().decode()) for path in files]


def decoded(cell: str) -> str:
    """Take a cell's quotes off: the outer ones, and one of each doubled pair."""
    if len(cell) < 2 or not (cell.startswith("'") and cell.endswith("'")):
        return cell
    return cell[1:-1].replace("''", "'")


def as_the_reference_reads(cell: str) -> str:
    """Return a cell as delitoolkit's csv.DictReader does; one whose quote it would close in another cell, as it is."""
    # Only a file that ends its lines so may hold a carriage return; csv would stop there.
    shown = cell.replace("\r", "\ud800")
    fields = next(csv.reader([f"{shown}\tx"], delimiter="\t", skipinitialspace=True))
    return (fields[0] if len(fields) == 2 else shown.lstrip(" ")).replace("\ud800", "\r")


def examples(groups: list[Group]) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of every task, without the columns that only say where an example is."""
    found: dict[str, list[tuple[Any, ...]]] = {task: [] for task in TASKS}
    for group in groups:
        _messages(group, found)
        start, end = (float(group.rows[index]["team_performance"]) for index in (0, -1))
        found["outcome"].append((group.name, start, end, "gain" if end > start else "loss" if end < start else "same"))
    return found


def _messages(group: Group, found: dict[str, list[tuple[Any, ...]]]) -> None:
    previous = "BEGIN"
    history: list[str] = []
    for index, row in enumerate(group.rows):
        text = decoded(row["original_text"])
        if row["message_type"] == "MESSAGE":
            head = (group.name, index, row["message_id"])
            pair, raw = (previous, text), as_the_reference_reads(row["original_text"])
            kind, target = row["annotation_type"], row["annotation_target"]
            change = float(row["performance_change"])
            found["deliberation_type"].append((*head, *pair, kind, raw))
            if kind == "Probing":
                found["probing_target"].append((*head, *pair, target, raw))
                found["probing_generation"].append((*head, list(history), text))
            if kind == "Non-probing-deliberation":
                found["nonprobing_target"].append((*head, *pair, target, raw))
            sign = "+" if change > 0 else "-" if change < 0 else "0"
            found["change_of_mind"].append((*head, *pair, change, sign, raw))
            previous = text
        if index > 0:
            history.append(f"{row['origin']}:{text}")


def score(cards: list[str]) -> float:
    """Score a solution: a quarter each for a vowel (Y is one), an odd digit, no consonant, no even digit."""
    letters = [char for card in cards for char in card if char.isalpha() and char.isupper()]
    digits = [int(char) for card in cards for char in card if char.isdigit()]
    vowels = [char in "AEIOUY" for char in letters]
    odd = [digit % 2 == 1 for digit in digits]
    return 0.25 * (any(vowels) + any(odd) + all(vowels) + (not any(digit % 2 == 0 for digit in digits)))


def team_performance(row: dict[str, str]) -> float:
    """Return the mean score of the tracker's users, to three decimals."""
    tracker = json.loads(row["sol_tracker_all"])
    return round(sum(map(score, tracker.values())) / len(tracker), 3)
