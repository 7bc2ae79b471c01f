"""All files to rows: conversations first, since every other file is about them, then labels, then rankings."""

from collections.abc import Iterable, Iterator

from talkhouse.ingest.corpora.mantis import made
from talkhouse.ingest.corpora.mantis.context_index import ContextIndex
from talkhouse.ingest.corpora.mantis.files import (
    CONVERSATIONS,
    CORPUS,
    INTENTS_CSV,
    MANIFEST,
    RANKING,
    SPLITS,
    Role,
    missing_files,
    role,
)
from talkhouse.ingest.corpora.mantis.intent_table.read import read_table
from talkhouse.ingest.corpora.mantis.ranking.read import Ranking, lone_lookup
from talkhouse.ingest.outcomes import Outcome, Unrecognised
from talkhouse.ingest.sources import SourceFile, duplicate_part
from talkhouse.ingest.texts import Texts

_TRANSCRIPTS = ("labels.txt", "labels_2.txt")

_Files = dict[Role, SourceFile]


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every record of the files. Raises SourceError where two files are the same part of the corpus."""
    parts: _Files = {}
    tables: list[SourceFile] = []
    for file in files:
        part = role(file.name)
        if part is None:
            yield Unrecognised(file, _reason(file))
        elif part.subset == INTENTS_CSV:
            tables.append(file)
        elif part in parts:
            raise duplicate_part(parts[part], file)
        else:
            parts[part] = file
    yield from missing_files(parts)
    yield from _parts(parts, tables)


def _parts(parts: _Files, tables: list[SourceFile]) -> Iterator[Outcome]:
    """Read the parts of the corpus in an order in which each is there before what refers to it."""
    # Needs Polars, which commands that don't read spare.
    from talkhouse.ingest.corpora.mantis.conversations.batch import Build
    from talkhouse.ingest.corpora.mantis.conversations.read import read_dialogues

    ranked = {part.split for part in parts if part.subset in RANKING and part.split}
    index = ContextIndex(ranked, is_labelled=bool(tables))
    shared = {split for split in SPLITS if all(Role(subset, split) in parts for subset in CONVERSATIONS)}
    build, texts = Build(index, shared), Texts(CORPUS)
    if (file := parts.get(Role(MANIFEST, None))) is not None:
        outcome, build.sites = made.read(file)
        yield outcome
    for part in _of(parts, CONVERSATIONS):
        yield from read_dialogues(build, parts[part], part)
    yield from _labels(tables, index)
    for part in _of(parts, RANKING):
        lookup = parts.get(Role(f"{part.subset}_lookup", part.split))
        yield from Ranking(index, texts, parts[part], lookup, part).read()
    for part in _of(parts, [f"{subset}_lookup" for subset in RANKING]):
        if Role(part.subset.removesuffix("_lookup"), part.split) not in parts:
            yield from lone_lookup(parts[part], part)


def _labels(tables: list[SourceFile], index: ContextIndex) -> Iterator[Outcome]:
    """Read the table of intents, whatever its name; a .csv with another header is none."""
    table: SourceFile | None = None
    for file in tables:
        for outcome in read_table(file, index):
            if not isinstance(outcome, Unrecognised):
                if table and table is not file:
                    raise duplicate_part(table, file)
                table = file
            yield outcome


def _of(parts: _Files, subsets: Iterable[str]) -> list[Role]:
    """List the files that there are of some parts, split by split."""
    return [Role(subset, split) for subset in subsets for split in SPLITS if Role(subset, split) in parts]


def _reason(file: SourceFile) -> str:
    """Return why a file is not one of the corpus's."""
    if file.name in _TRANSCRIPTS:
        return "transcripts for annotators, without labels; the dialogues are in merged_train.json"
    return "none of merged_*.json, merged_*_intents.json, data_*.tsv, data_*_lookup.txt and *.csv"
