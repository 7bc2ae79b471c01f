"""All files to rows: conversations first, since every other file is about them, then labels, then rankings."""

from collections.abc import Iterable, Iterator
from itertools import groupby

import msgspec

from ingest.corpora.mantis.annotation_csv import read_csv
from ingest.corpora.mantis.companions import TALKS, missing
from ingest.corpora.mantis.layout import CORPUS, INTENTS_CSV, RANKING, SPLITS, Role, role
from ingest.corpora.mantis.proof import Proof
from ingest.corpora.mantis.ranking import Ranking
from ingest.corpora.mantis.tsv import Lines
from ingest.outcomes import FileEnvelope, Loaded, Outcome, Rejected, SourceLocation, Unrecognised
from ingest.rows import Record
from ingest.sources import SourceFile, duplicate_part

_TRANSCRIPTS = ("labels.txt", "labels_2.txt")


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Give every record of the files. Raises SourceError where two files are the same part of the corpus."""
    given: dict[Role, SourceFile] = {}
    tables: list[SourceFile] = []
    for file in files:
        one = role(file.name)
        if one is None:
            yield Unrecognised(file, _told(file))
        elif one.subset == INTENTS_CSV:
            tables.append(file)
        elif one in given:
            raise duplicate_part(given[one], file)
        else:
            given[one] = file
    yield from missing(given)
    yield from _parts(given, tables)


def _parts(given: dict[Role, SourceFile], tables: list[SourceFile]) -> Iterator[Outcome]:
    """Read the parts of the corpus in an order in which each is there before what refers to it."""
    from ingest.corpora.mantis.conversations import Conversations  # needs Polars, which commands that don't read spare

    ranked = {one.split for one in given if one.subset in RANKING and one.split}
    proof = Proof(ranked, is_labelled=bool(tables))
    shared = {split for split in SPLITS if all(Role(subset, split) in given for subset in TALKS)}
    conversations, ranking = Conversations(proof, shared), Ranking(proof)
    for one in _of(given, TALKS):
        yield from conversations.file(given[one], one)
    yield from _labels(tables, proof)
    for one in _of(given, RANKING):
        yield from ranking.pair(given[one], given.get(Role(f"{one.subset}_lookup", one.split)), one)
    for one in _of(given, [f"{subset}_lookup" for subset in RANKING]):
        if Role(one.subset.removesuffix("_lookup"), one.split) not in given:
            yield from _lone_lookup(given[one], one)


def _labels(tables: list[SourceFile], proof: Proof) -> Iterator[Outcome]:
    """Read the table of intents, whatever its name; a .csv with another header is none."""
    found: SourceFile | None = None
    for file in tables:
        for outcome in read_csv(file, proof):
            if not isinstance(outcome, Unrecognised):
                if found and found is not file:
                    raise duplicate_part(found, file)
                found = file
            yield outcome


def _of(given: dict[Role, SourceFile], subsets: Iterable[str]) -> list[Role]:
    """List what is given of some parts, split by split."""
    return [Role(subset, split) for subset in subsets for split in SPLITS if Role(subset, split) in given]


def _lone_lookup(file: SourceFile, one: Role) -> Iterator[Outcome]:
    """Keep the keys of a lookup file without its TSV: each key with the number of its rows, run by run."""
    lines = Lines(file)
    place = SourceLocation(file, "", one.subset, None, one.split, 0, size=file.size)
    try:
        runs = [[key.decode(), len(list(group))] for key, group in groupby(lines)]
    except UnicodeDecodeError as bad:
        yield Rejected(place, "TH-02", f"not UTF-8: {bad.reason} at byte {bad.start} of a line", file.read())
        return
    record = Record(
        record_id=f"{CORPUS}/{one.subset}/{one.split}",
        corpus_id=CORPUS,
        dialogue_id=None,
        native_id=None,
        main_speaker_id=None,
        subset=one.subset,
        release=None,
        split=one.split,
        standard_split=SPLITS[one.split or ""],
        record_index=0,
        source_file_id=file.id,
        source_pointer="",
        extra=msgspec.json.encode({"runs": runs}).decode(),
    )
    yield Loaded(place, [record])
    yield FileEnvelope(file, lines.frame(), 1)


def _told(file: SourceFile) -> str:
    """Say why a file is none of the corpus's."""
    if file.name in _TRANSCRIPTS:
        return "transcripts for annotators, without labels; the dialogues are in merged_train.json"
    return "none of merged_*.json, merged_*_intents.json, data_*.tsv, data_*_lookup.txt and *.csv"
