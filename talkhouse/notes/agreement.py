"""Who has written how many notes, how far their labels agree, and what is left to each of them."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from talkhouse.notes.notes_file import NoteNow, NoteState
from talkhouse.schema.sql_files import sql_of

OF_THE_CORPUS = "(the corpus)"
"""The author of the labels that the publisher gives."""

Labels = Mapping[Hashable, Mapping[str, str]]
"""Place -> author -> the label that the author has wanted it last."""


@dataclass(frozen=True)
class Share:
    """What one author has done."""

    author: str
    notes: int
    labelled: int
    """Turns and dialogues with a label of theirs."""
    left: int
    """Those that others have labelled, and they have not."""


@dataclass(frozen=True)
class Agreement:
    """How far authors agree."""

    alpha: float | None
    """Krippendorff's alpha for nominal data (Krippendorff 2011); None where only one label occurs, or no two meet."""
    places: int
    """Turns and dialogues that two authors or more have labelled."""


def labels_of(notes: Iterable[NoteNow]) -> Labels:
    """Return the labels of notes by what they are on; of several by one author, the last."""
    found = defaultdict[Hashable, dict[str, str]](dict)
    for state in sorted(notes, key=lambda item: item.note.note_id):
        if state.note.label and state.state is not NoteState.GONE:
            found[state.note.dialogue_id, state.turn_index][state.note.author] = state.note.label
    return found


def shares(notes: Sequence[NoteNow]) -> list[Share]:
    """Count the notes of each author and what is left to them, those with most notes first."""
    labels, counts = labels_of(notes), Counter(state.note.author for state in notes)
    labelled = Counter(author for by_author in labels.values() for author in by_author)
    return [
        Share(author, count, labelled[author], len(labels) - labelled[author]) for author, count in counts.most_common()
    ]


def with_corpus(con: duckdb.DuckDBPyConnection, labels: Labels) -> Labels:
    """Add the corpora's own labels: the commonest of each place, of the schemes that have one of these labels."""
    wanted = sorted({label for by_author in labels.values() for label in by_author.values()})
    rows = con.execute(
        sql_of(__file__, "corpus_labels"),
        {"labels": wanted, "dialogues": sorted({str(place[0]) for place in labels if isinstance(place, tuple)})},
    ).fetchall()
    own = {(dialogue_id, turn_index): label for dialogue_id, turn_index, label in rows}
    return {
        place: {**by_author, **({OF_THE_CORPUS: own[place]} if place in own else {})}
        for place, by_author in labels.items()
    }


def agreement(labels: Labels) -> Agreement:
    """Compute the agreement of those who have labelled the same."""
    units = [Counter(by_author.values()) for by_author in labels.values() if len(by_author) > 1]
    whole = sum(units, Counter[str]())
    total = whole.total()
    if not units or len(whole) == 1:
        return Agreement(None, len(units))
    observed = (
        sum(count * (unit.total() - count) / (unit.total() - 1) for unit in units for count in unit.values()) / total
    )
    expected = sum(count * (total - count) for count in whole.values()) / (total * (total - 1))
    return Agreement(1 - observed / expected, len(units))
