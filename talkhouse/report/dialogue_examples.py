"""Dialogues that the page shows, of each corpus the one most disagreed on and those of headlines; labels as bars.

The choice depends on the rows alone. Their texts are shown only if the licence asks no more than to name the
authors, as ``talkhouse export`` writes such rows without acceptance of terms.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import duckdb

from talkhouse.charts.declarations import conversations
from talkhouse.charts.words import FilledHeadline
from talkhouse.dialogues.dialogue import of_default, show
from talkhouse.dialogues.schemes import PLAIN, BarPart, LabelScheme, Schemes
from talkhouse.dialogues.turns import DialogueTurn, Votes, readable
from talkhouse.export.selection import select
from talkhouse.export.terms import parts_of
from talkhouse.schema.sql import dicts
from talkhouse.schema.sql_files import sql_of
from talkhouse.warehouse.opened import Warehouse

_BEFORE, _AFTER = 3, 2
"""Turns around the one that the example is about."""

_LETTERS = 280
"""Of a turn's text that are shown at most."""

_TEXTS = "main.turns"

_DEFAULT = "select release from bi.default_releases where dialogue_id = ?"

_PUBLISHED = """
select distinct record_id, dialogue_id
from bi.publications where dialogue_id in (select unnest($dialogues::varchar[]))
"""

_CORPUS = "select dialogue_id, corpus_id from main.dialogues where list_contains(?, dialogue_id)"


@dataclass(frozen=True)
class ExampleTurn:
    """A turn of an example."""

    turn_index: int
    speaker: str
    text: str
    is_cut: bool
    bars: dict[str, list[BarPart]]
    """Scheme with several votes -> count of each label."""
    labels: list[tuple[str, str, str]]
    "Scheme, label and meaning, if one annotator gave it."


@dataclass(frozen=True)
class _About:
    """A dialogue chosen as an example, with the reason."""

    corpus_id: str
    dialogue_id: str
    turn_index: int | None
    """The turn that it is about."""
    why: str


@dataclass(frozen=True)
class DialogueExample:
    """A part of a dialogue."""

    id: str
    about: _About
    turns: list[ExampleTurn]
    withheld: str = ""
    """The requirements of the terms of its texts, if they are not shown."""

    def of_turn(self, turn: ExampleTurn) -> str:
        """Return the anchor of one of its turns."""
        return f"{self.id}-turn-{turn.turn_index}"


def examples(
    warehouse: Warehouse, headlines: Iterable[FilledHeadline], known: Schemes, *, is_accepted: bool
) -> list[DialogueExample]:
    """Return the examples of all corpora, each dialogue once; ``known``: the declarations of the schemes' labels.

    ``is_accepted``: whether texts are shown whose terms require more than attribution.
    """
    con = warehouse.con
    of_corpora = _usual(con) | _disputed(con)
    chosen = {about.dialogue_id: about for about in of_corpora.values()}
    wanted = {item.dialogue_id: item for item in headlines if item.dialogue_id and item.dialogue_id not in chosen}
    rows = con.execute(_CORPUS, [list(wanted)]).fetchall()
    for dialogue_id, corpus_id in rows:
        chosen[dialogue_id] = _About(corpus_id, dialogue_id, wanted[dialogue_id].turn_index, wanted[dialogue_id].text)
    asked = {} if is_accepted else _asked(warehouse)
    ordered = sorted(chosen.values(), key=lambda about: (about.corpus_id, about.dialogue_id))
    return [
        DialogueExample(f"example-{number}", about, [], asked[about.corpus_id])
        if about.corpus_id in asked
        else DialogueExample(f"example-{number}", about, _turns(warehouse, about, known))
        for number, about in enumerate(ordered, start=1)
    ]


def places(con: duckdb.DuckDBPyConnection, shown: Iterable[DialogueExample]) -> dict[str, dict[int | None, str]]:
    """Return the links to each dialogue on the page, and to each record that has one, by the index of the turn.

    None is the dialogue's own.
    """
    anchors: dict[str, dict[int | None, str]] = {
        example.about.dialogue_id: {
            None: f"#{example.id}",
            **{turn.turn_index: f"#{example.of_turn(turn)}" for turn in example.turns},
        }
        for example in shown
    }
    return with_records(con, anchors)


def with_records(
    con: duckdb.DuckDBPyConnection, pages: Mapping[str, dict[int | None, str]]
) -> dict[str, dict[int | None, str]]:
    """Return the links of dialogues with those of the records that publish them."""
    rows = con.execute(_PUBLISHED, {"dialogues": list(pages)}).fetchall()
    return {**pages, **{record_id: pages[dialogue_id] for record_id, dialogue_id in rows}}


def _asked(warehouse: Warehouse) -> dict[str, str]:
    """Return the requirements of the terms of texts, by corpus, if they are more than to name the authors."""
    asked: dict[str, set[str]] = {}
    for part in parts_of(warehouse, [select(warehouse, _TEXTS)]):
        if more := {*part.flags} - {"attribution"}:
            asked.setdefault(part.corpus_id, set()).update(flag.replace("_", "-") for flag in more)
    return {corpus_id: ", ".join(sorted(flags)) for corpus_id, flags in asked.items()}


def _disputed(con: duckdb.DuckDBPyConnection) -> dict[str, _About]:
    """Return for each corpus the turn on which its annotators disagree most."""
    chosen = {}
    disputed = con.execute(sql_of(__file__, "disputed_turns")).fetchall()
    for corpus_id, dialogue_id, turn_index, scheme, bits, tied_count in disputed:
        tied = f"; {tied_count:,} turns tie, of which this is the first by id" if tied_count > 1 else ""
        why = f"Turn {turn_index} has the most disagreement on {scheme}: an entropy of {bits:.2f} bits{tied}."
        chosen[corpus_id] = _About(corpus_id, dialogue_id, turn_index, why)
    return chosen


def _usual(con: duckdb.DuckDBPyConnection) -> dict[str, _About]:
    """Return for each corpus a dialogue that is neither short nor long."""
    return {
        corpus_id: _About(corpus_id, dialogue_id, None, f"A dialogue of median length: {turn_count:,} turns.")
        for corpus_id, dialogue_id, turn_count in con.execute(sql_of(__file__, "usual_dialogues")).fetchall()
    }


def _turns(warehouse: Warehouse, about: _About, known: Schemes) -> list[ExampleTurn]:
    """Return the turns around the one that the example is about, with the labels of the default publication."""
    shown = conversations(about.corpus_id, warehouse.query_files)
    found = show(warehouse.con, about.dialogue_id)
    releases = warehouse.con.execute(_DEFAULT, [about.dialogue_id]).fetchall()
    records = of_default(found["records"], [release for (release,) in releases])
    hidden = shown.hidden if shown else ()
    dialogue = readable(found, records)
    turns = dialogue.turns[: _BEFORE + 1 + _AFTER]
    if about.turn_index:
        turns = dialogue.around(about.turn_index, _BEFORE, _AFTER)
    return [
        _turn(turn, [vote for vote in turn.votes if vote.scheme not in hidden], known) for turn in turns if turn.row
    ]


def _turn(turn: DialogueTurn, votes: Iterable[Votes], known: Schemes) -> ExampleTurn:
    counts, labels = dict[str, Counter[str]](), []
    for vote in votes:
        if vote.annotators > 1:
            counts.setdefault(vote.scheme, Counter()).update(dict(vote.counts))
        else:
            labels += [(vote.scheme, label, known[vote.scheme].labels.get(label, "")) for label, _ in vote.counts]
    bars = {scheme: _bar(known[scheme], counted) for scheme, counted in counts.items()}
    text = turn.text
    return ExampleTurn(turn.turn_index, turn.who, text[:_LETTERS], len(text) > _LETTERS, bars, labels)


_MOST_LABELS = len(PLAIN)
"""Labels of which each has a colour of its own."""


def _bar(scheme: LabelScheme, counts: Mapping[str, int]) -> list[BarPart]:
    return scheme.including(counts).bar(counts)


def label_counts(con: duckdb.DuckDBPyConnection, known: Schemes) -> list[dict[str, Any]]:
    """Return the count of each label, by scheme and publisher's release of the default publication.

    Labels that are too many for a bar are numbers or free texts, and are left out.
    """
    counted: dict[tuple[str, str | None], dict[str, Any]] = {}
    for row in dicts(con.execute(sql_of(__file__, "label_counts"))):
        key = row["scheme"], row["release"]
        counted.setdefault(key, {**row, "counts": {}})["counts"][row["label"] or ""] = row["vote_count"]
    few = [row for row in counted.values() if 1 < len(row["counts"]) <= _MOST_LABELS]
    return [{**row, "parts": _bar(known[row["scheme"]], row["counts"])} for row in few]
