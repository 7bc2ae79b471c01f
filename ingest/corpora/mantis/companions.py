"""Files that belong together: what is missing beside those that are given, and what that means."""

from collections.abc import Iterator, Mapping

from ingest.corpora.mantis.layout import INTENTS, MERGED, RANKING, SPLITS, Role, file_name
from ingest.outcomes import ReaderFinding
from ingest.sources import SourceFile

TALKS = (MERGED, INTENTS)


def missing(given: Mapping[Role, SourceFile]) -> Iterator[ReaderFinding]:
    """Name every file that is missing, with the file beside which it is."""
    for subset in (*TALKS, *RANKING):
        there = [split for split in SPLITS if Role(subset, split) in given]
        for split in (split for split in SPLITS if there and split not in there):
            yield _note(given[Role(subset, there[0])], Role(subset, split), f"{split} has none of its rows")
    for one, file in given.items():
        if one.subset in RANKING:
            yield from _beside_ranking(one, file, given)
        elif (subset := one.subset.removesuffix("_lookup")) in RANKING and Role(subset, one.split) not in given:
            yield _note(file, Role(subset, one.split), "its keys belong to no row; they are kept as they are")


def _beside_ranking(one: Role, file: SourceFile, given: Mapping[Role, SourceFile]) -> Iterator[ReaderFinding]:
    """Tell what a TSV lacks: the conversations, and the keys of its rows."""
    lookup = Role(f"{one.subset}_lookup", one.split)
    if lookup not in given:
        told = "nothing says which dialogue a row belongs to; contexts and candidates are kept by themselves"
        yield _note(file, lookup, told)
    if not any(Role(subset, one.split) in given for subset in TALKS):
        told = "contexts and candidates are kept by themselves, without turns, people and times"
        yield _note(file, Role("merged", one.split), told)


def _note(file: SourceFile, lacking: Role, meaning: str) -> ReaderFinding:
    return ReaderFinding("MA-01", f"{file_name(lacking)} is not there: {meaning}", file, severity="warn")
