"""All files to rows: conversations first, since every other file is about them, then labels, then rankings."""

from collections.abc import Iterable, Iterator

from talkhouse.ingest.corpora.mantis.format import (
    CORPUS,
    INTENTS,
    INTENTS_CSV,
    MANIFEST,
    MERGED,
    RANKING,
    SITE,
    SPLITS,
    Role,
    missing_files,
    read_manifest,
    role,
)
from talkhouse.ingest.corpora.mantis.intent_table import read_table
from talkhouse.ingest.corpora.mantis.ranking import ContextIndex, RankingReader, lone_lookup
from talkhouse.ingest.keys import Texts
from talkhouse.ingest.outcomes import Outcome, Unrecognised
from talkhouse.ingest.sources import SourceFile, duplicate_part

_TRANSCRIPTS = ("labels.txt", "labels_2.txt")

_Files = dict[Role, SourceFile]

_Sites = list[tuple[SourceFile, Role]]
"""The files of sites, several of which have one role."""


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every record of the files. Raises SourceError where two files are the same part of the corpus."""
    parts: _Files = {}
    tables: list[SourceFile] = []
    sites: _Sites = []
    for file in files:
        part = role(file.name)
        if part is None:
            yield Unrecognised(file, _reason(file))
        elif part.subset == INTENTS_CSV:
            tables.append(file)
        elif part.subset == SITE:
            same = [site for site, other in sites if other == part and site.path.parent.name == file.path.parent.name]
            if same:
                raise duplicate_part(same[0], file)
            sites.append((file, part))
        elif part in parts:
            raise duplicate_part(parts[part], file)
        else:
            parts[part] = file
    yield from missing_files(parts)
    for file, part in sites:
        if reason := _is_elsewhere(file, part, parts, sites):
            yield Unrecognised(file, reason, is_meant=True)
    yield from _parts(parts, tables, [site for site in sites if not _is_elsewhere(*site, parts, sites)])


def _is_elsewhere(file: SourceFile, part: Role, parts: _Files, sites: _Sites) -> str | None:
    """Return the files that have the dialogues of a site's file too, or None if none has."""
    merged = [split for split in SPLITS if {Role(MERGED, split), Role(INTENTS, split)} & parts.keys()]
    if part.split in merged or (part.split is None and merged):
        return f"its dialogues are in merged_{part.split or merged[0]}.json"
    if part.split is None and any(other.split and site.path.parent == file.path.parent for site, other in sites):
        return "its dialogues are in the files of its splits"
    return None


def _parts(parts: _Files, tables: list[SourceFile], sites: _Sites) -> Iterator[Outcome]:
    """Read the parts of the corpus in an order in which each is there before what refers to it."""
    # Needs Polars, which commands that don't read spare.
    from talkhouse.ingest.corpora.mantis.conversations import ConversationState, read_dialogues

    ranked = {part.split for part in parts if part.subset in RANKING and part.split}
    index = ContextIndex(ranked, is_labelled=bool(tables))
    shared = {split for split in SPLITS if {Role(MERGED, split), Role(INTENTS, split)} <= parts.keys()}
    build, texts = ConversationState(index, shared), Texts(CORPUS)
    if (file := parts.get(Role(MANIFEST, None))) is not None:
        outcome, build.sites = read_manifest(file)
        yield outcome
    for part in _roles_present(parts, (MERGED, INTENTS)):
        yield from read_dialogues(build, parts[part], part)
    for file, part in sites:
        yield from read_dialogues(build, file, part, f"{file.path.parent.name}/")
    yield from _labels(tables, index)
    for part in _roles_present(parts, RANKING):
        lookup = parts.get(Role(f"{part.subset}_lookup", part.split))
        yield from RankingReader(index, texts, parts[part], lookup, part).read()
    for part in _roles_present(parts, [f"{subset}_lookup" for subset in RANKING]):
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


def _roles_present(parts: _Files, subsets: Iterable[str]) -> list[Role]:
    """List the files that there are of some parts, split by split."""
    return [Role(subset, split) for subset in subsets for split in SPLITS if Role(subset, split) in parts]


def _reason(file: SourceFile) -> str:
    """Return why a file is not one of the corpus's."""
    if file.name in _TRANSCRIPTS:
        return "transcripts for annotators, without labels; the dialogues are in merged_train.json"
    return "none of merged_*.json, data_*.json, merged_*_intents.json, data_*.tsv, data_*_lookup.txt and *.csv"
