"""Which files there are, by their names: a split each, but for the table of intents, which has all of them."""

from typing import NamedTuple

CORPUS = "mantis"

SPLITS = {"train": "train", "dev": "validation", "test": "test"}
"""The publisher's splits, each with its standard name."""

MERGED = "merged"
INTENTS = "intents"
INTENTS_CSV = "intents_csv"
RANKING = {"mantis_10": 10, "mantis_50": 50}
"""The two response-ranking subsets, each with its negatives per context."""

_PATTERNS = {
    "merged_{}.json": MERGED,
    "merged_{}_intents.json": INTENTS,
    "data_{}_easy.tsv": "mantis_10",
    "data_{}.tsv": "mantis_50",
    "data_{}_easy_lookup.txt": "mantis_10_lookup",
    "data_{}_lookup.txt": "mantis_50_lookup",
}


class Role(NamedTuple):
    """What a file is: its subset, and its split where the name says it."""

    subset: str
    split: str | None


_ROLES = {pattern.format(split): Role(subset, split) for pattern, subset in _PATTERNS.items() for split in SPLITS}


def role(name: str) -> Role | None:
    """Return what a file is by its name; every .csv may be the table of intents, which its header decides."""
    return Role(INTENTS_CSV, None) if name.endswith(".csv") else _ROLES.get(name)


def file_name(one: Role) -> str:
    """Return the name of the file that is this; not for the table of intents, which may have any."""
    return next(name for name, found in _ROLES.items() if found == one)
