"""Whole dialogues, each with its turns and their labels, for programs in which people read and label them."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from talkhouse.export.pseudonyms import Pseudonyms, with_pseudonyms
from talkhouse.export.row_stream import OnRows
from talkhouse.export.selection import Filters, Selection, select
from talkhouse.export.terms import parts_of
from talkhouse.notes.notes_file import Note, NoteNow, NoteState
from talkhouse.packages.content import Config, ExportPackage, SplitRows, counted, described_file
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import dicts, literal
from talkhouse.schema.sql_files import sql_of
from talkhouse.schema.tables import metadata
from talkhouse.warehouse.opened import Warehouse

_DIALOGUES = "main.dialogues"


class SchemeTarget(NamedTuple):
    """A scheme, and whether turns or whole dialogues are labelled by it."""

    scheme: str
    is_of_turns: bool

    @property
    def name(self) -> str:
        """What the scheme is called where names have no dots."""
        return self.scheme.replace(".", "_")


@dataclass(frozen=True, kw_only=True)
class DialoguePackage(ExportPackage):
    """A package of whole dialogues."""

    query: str
    left_over: tuple[SchemeTarget, ...]
    """The schemes whose labels are several at once or numbers, and so not in it."""
    noted: Mapping[str, Sequence[Note]] | None = None
    """Where notes go along: those that fit, by the id of their dialogue in it."""

    def note_labels(self, *, is_of_turns: bool) -> list[str]:
        """Return the labels of notes on turns, or on dialogues."""
        notes = chain.from_iterable((self.noted or {}).values())
        return sorted({note.label for note in notes if note.label and (note.turn_index is not None) == is_of_turns})

    def schemes(self) -> dict[SchemeTarget, list[str]]:
        """Return the labels of each scheme whose labels are in it, in their declared order; those of turns first."""
        rows = self.warehouse.con.execute(
            "select scheme, is_of_turns, labels.label from (select distinct unnest.scheme as scheme, "
            f"unnest.turn_index is not null as is_of_turns from (select unnest(labels) as unnest from ({self.query}))) "
            "inner join main.labels using (scheme) where labels.label <> '' "
            "order by is_of_turns desc, scheme, label_index, label"
        ).fetchall()
        found: dict[SchemeTarget, list[str]] = {}
        for scheme, is_of_turns, label in rows:
            found.setdefault(SchemeTarget(scheme, is_of_turns), []).append(label)
        return found

    def dialogues(self) -> Iterator[dict[str, Any]]:
        """Yield each dialogue by its id: dialogue_id, corpus_id, title, language, turns, labels, notes.

        ``turns`` are turn_index, author and text; ``labels`` turn_index (null: of the dialogue), scheme, and the label
        that most annotators of the default publication gave: on a tie, the first in the order of characters.
        """
        cursor = self.warehouse.con.execute(self.query)
        names = [column[0] for column in cursor.description or ()]
        while rows := cursor.fetchmany(100):
            for row in rows:
                dialogue = dict(zip(names, row, strict=True))
                yield {**dialogue, "notes": (self.noted or {}).get(dialogue["dialogue_id"], ())}


def plan(warehouse: Warehouse, name: str, filters: Filters, pseudonyms: Pseudonyms | None) -> DialoguePackage:
    """Plan the package of a corpus, or of ``main.dialogues``; ``filters`` are those of ``main.dialogues``.

    Raises UsageError for another name, and where no dialogue is wanted.
    """
    is_corpus = name in warehouse.corpus_ids
    is_dialogues = is_corpus or name in (_DIALOGUES, "dialogues")
    dialogues = select(
        warehouse,
        _DIALOGUES if is_corpus else name,
        filters,
        columns=("dialogue_id", "corpus_id", "title", "language") if is_dialogues else None,
    )
    if dialogues.full_name != _DIALOGUES:
        raise UsageError(
            f"'{name}' has no whole dialogues",
            expected=f"{_DIALOGUES}, or one of: {', '.join(warehouse.corpus_ids)}",
            next_step=f'name {_DIALOGUES}, and choose of it with --where "dialogue_id in (...)"',
        )
    if is_corpus:
        dialogues = dialogues.narrowed(f"corpus_id = {literal(name)}")
    wanted = f"dialogue_id in (select dialogue_id from ({dialogues.rows(['dialogue_id'])}))"
    turns = select(warehouse, "main.turns").narrowed(wanted)
    place = "(turn_index is not null or persona_set is null)"
    votes = f"is_default and {place} and scheme_kind = 'single_label' and {wanted}"
    labels = select(warehouse, "bi.label_counts").narrowed(votes)
    left_over = _left_over(warehouse, f"{place} and {wanted}", labels)
    parts = parts_of(warehouse, [dialogues, turns, labels])
    if pseudonyms:
        dialogues, turns, labels = (with_pseudonyms(rows, warehouse, pseudonyms) for rows in (dialogues, turns, labels))
    query = sql_of(
        __file__,
        "whole_dialogues",
        dialogues=dialogues.sql(),
        turns=turns.sql(["dialogue_id", "turn_index", "speaker_id", "role", "text"]),
        labels=labels.sql(["dialogue_id", "turn_index", "scheme", "label", "vote_count"]),
        author="speaker_id" if pseudonyms else "speakers.name",
    )
    corpora = dicts(warehouse.con.execute(f"select corpus_id, count(*) as size from ({dialogues.sql()}) group by all"))
    if not corpora:
        raise UsageError("no dialogue is wanted", expected="filters that a dialogue passes")
    known = {corpus["corpus_id"] for corpus in corpora}
    size = sum(corpus["size"] for corpus in corpora)
    return DialoguePackage(
        warehouse,
        name,
        (
            Config(
                "dialogues",
                dialogues,
                metadata.tables["dialogues"].comment or "",
                (SplitRows(None, "all", None, size),),
            ),
        ),
        [corpus for corpus in warehouse.corpora if corpus["corpus_id"] in known],
        parts,
        pseudonyms.fingerprint if pseudonyms else None,
        query=query,
        left_over=left_over,
    )


def with_notes(package: ExportPackage, notes: Sequence[NoteNow]) -> DialoguePackage:
    """Return a package with the notes on its dialogues that fit, and a sentence on the others.

    Who wrote them is not said, and what several have written alike is there once.
    """
    assert isinstance(package, DialoguePackage)  # noqa: S101 - it is what ``plan`` returns
    chosen = package.configs[0].selection
    written = chosen.replaced.get("dialogue_id", "dialogue_id")
    ids = dict(
        package.warehouse.con.execute(f"select dialogue_id, {written} from {chosen.source}{chosen.where}").fetchall()
    )
    noted: defaultdict[str, dict[tuple[object, ...], Note]] = defaultdict(dict)
    others = 0
    for note, state, _ in notes:
        if note.dialogue_id not in ids:
            continue
        if state is NoteState.FITS:
            noted[ids[note.dialogue_id]].setdefault((note.turn_index, note.label, note.note), note)
        else:
            others += 1
    left_out = [f"left out: {counted(others, 'note')} whose text has changed, moved or is gone"] if others else []
    return replace(
        package, noted={name: tuple(those.values()) for name, those in noted.items()}, notes=(*package.notes, *left_out)
    )


def _left_over(warehouse: Warehouse, wanted: str, labels: Selection) -> tuple[SchemeTarget, ...]:
    """Return the schemes and targets of labels in the selected dialogues that are not among these labels."""
    rows = warehouse.con.execute(
        f"select scheme, turn_index is not null from main.annotations where {wanted} except "
        f"select scheme, turn_index is not null from ({labels.sql(['scheme', 'turn_index', 'label'])}) "
        "inner join main.labels using (scheme, label) order by all"
    ).fetchall()
    return tuple(SchemeTarget(*row) for row in rows)


def not_shown(levels: Iterable[SchemeTarget]) -> Iterator[str]:
    """Return sentences on the schemes whose labels a package can't hold as what they are."""
    for is_of_turns, what in ((False, "dialogues"), (True, "turns")):
        schemes = [level.scheme for level in levels if level.is_of_turns == is_of_turns]
        if schemes:
            yield f"left out: labels of {what} by {', '.join(schemes)} (several at once, or numbers)"


def write_list(
    path: Path, package: ExportPackage, document: Callable[[Mapping[str, Any]], dict[str, Any]], on_rows: OnRows
) -> dict[str, Any]:
    """Write a JSON array with a document for each dialogue; return the manifest's entry of the file."""
    assert isinstance(package, DialoguePackage)  # noqa: S101 - it is what ``plan`` returns
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for count, dialogue in enumerate(package.dialogues(), 1):
            stream.write("[\n" if count == 1 else ",\n")
            stream.write(json.dumps(document(dialogue), ensure_ascii=False))
            on_rows(1)
        stream.write("\n]\n")
    return described_file(path, count)


def known(facts: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return the facts that are known, by name."""
    return {name: value for name, value in facts if value is not None}
