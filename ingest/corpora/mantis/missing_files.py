"""Files that belong together: what is missing beside the input files, and what that means."""

from collections.abc import Iterator, Mapping

from ingest.corpora.mantis.files import INTENTS, MERGED, RANKING, SPLITS, Role, file_name
from ingest.outcomes import ReaderFinding
from ingest.sources import SourceFile

CONVERSATIONS = (MERGED, INTENTS)


def missing_files(found: Mapping[Role, SourceFile]) -> Iterator[ReaderFinding]:
    """Name every file that is missing, with the file beside which it is."""
    for subset in (*CONVERSATIONS, *RANKING):
        there = [split for split in SPLITS if Role(subset, split) in found]
        for split in (split for split in SPLITS if there and split not in there):
            yield _finding(found[Role(subset, there[0])], Role(subset, split), f"{split} has none of its rows")
    for one, file in found.items():
        if one.subset in RANKING:
            yield from _beside_ranking(one, file, found)
        elif (subset := one.subset.removesuffix("_lookup")) in RANKING and Role(subset, one.split) not in found:
            yield _finding(file, Role(subset, one.split), "its keys belong to no row; they are kept as they are")


def _beside_ranking(one: Role, file: SourceFile, found: Mapping[Role, SourceFile]) -> Iterator[ReaderFinding]:
    """Name what a TSV lacks: the conversations, and the keys of its rows."""
    lookup = Role(f"{one.subset}_lookup", one.split)
    if lookup not in found:
        meaning = "nothing says which dialogue a row belongs to; contexts and candidates are kept by themselves"
        yield _finding(file, lookup, meaning)
    if not any(Role(subset, one.split) in found for subset in CONVERSATIONS):
        meaning = "contexts and candidates are kept by themselves, without turns, people and times"
        yield _finding(file, Role("merged", one.split), meaning)


def _finding(file: SourceFile, lacking: Role, meaning: str) -> ReaderFinding:
    return ReaderFinding("MA-01", f"{file_name(lacking)} is not there: {meaning}", file, severity="warn")
