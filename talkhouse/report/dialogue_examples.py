"""Dialogues that the page shows, of each corpus the one most disagreed on and those of headlines; labels as bars.

Which they are depends on the rows alone. Their texts are there only where the licence asks no more than to name the
authors, as ``talkhouse export`` gives such rows without being asked to accept terms.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import duckdb

from talkhouse.charts.declarations import conversations
from talkhouse.charts.words import FilledHeadline
from talkhouse.explore.dialogue import of_default, show
from talkhouse.explore.schemes import PLAIN, BarPart, LabelScheme, Schemes
from talkhouse.explore.turns import DialogueTurn, Votes, readable
from talkhouse.query.selection import select
from talkhouse.query.terms import parts_of
from talkhouse.schema.sql import dicts
from talkhouse.warehouse.opened import Warehouse

_BEFORE, _AFTER = 3, 2
"""Turns around the one that the example is about."""

_LETTERS = 280
"""Of a turn's text that are shown at most."""

_TEXTS = "main.turns"

# Rounded: threads add up in any order, and turns with the same votes would differ in the last digits.
_DISPUTED = """
with disputed as (
    select corpus_id, dialogue_id, turn_index, scheme, round(entropy, 9) as bits,
    from bi.turn_agreement
    where is_default and turn_index is not null and entropy > 0
)

select
    corpus_id, dialogue_id, turn_index, scheme, bits,
    count(*) over (partition by corpus_id, scheme, bits) as tied_count,
from disputed
qualify row_number() over (partition by corpus_id order by bits desc, dialogue_id, turn_index, scheme) = 1
"""

_USUAL = """
with counted as (
    select corpus_id, dialogue_id, count(*) as turn_count from bi.turns group by corpus_id, dialogue_id
),

middles as (
    select corpus_id, quantile_disc(turn_count, 0.5) as middle from counted group by corpus_id
)

select corpus_id, dialogue_id, turn_count
from counted inner join middles using (corpus_id)
qualify row_number() over (partition by corpus_id order by abs(turn_count - middle), dialogue_id) = 1
"""

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
    """Scheme with several votes -> how often each label was given."""
    labels: list[tuple[str, str, str]]
    "Scheme, label and meaning, where one was given."


@dataclass(frozen=True)
class _About:
    """Which dialogue is an example, and of what."""

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
    """What the terms of its texts ask, where they are not shown."""

    def of_turn(self, turn: ExampleTurn) -> str:
        """Return the anchor of one of its turns."""
        return f"{self.id}-turn-{turn.turn_index}"


def examples(
    warehouse: Warehouse, said: Iterable[FilledHeadline], known: Schemes, *, is_accepted: bool
) -> list[DialogueExample]:
    """Return the examples of all corpora, each dialogue once; ``known``: what is declared of the labels of schemes.

    ``is_accepted``: whether texts are shown whose terms require more than attribution.
    """
    con = warehouse.con
    of_corpora = _usual(con) | _disputed(con)
    chosen = {about.dialogue_id: about for about in of_corpora.values()}
    wanted = {one.dialogue_id: one for one in said if one.dialogue_id and one.dialogue_id not in chosen}
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
    """Return where each dialogue that is shown is on the page, and each record that has one, by the index of the turn.

    None is the dialogue's own.
    """
    anchors: dict[str, dict[int | None, str]] = {
        one.about.dialogue_id: {
            None: f"#{one.id}",
            **{turn.turn_index: f"#{one.of_turn(turn)}" for turn in one.turns},
        }
        for one in shown
    }
    return with_records(con, anchors)


def with_records(
    con: duckdb.DuckDBPyConnection, pages: Mapping[str, dict[int | None, str]]
) -> dict[str, dict[int | None, str]]:
    """Return where dialogues are, and the records that publish them, too."""
    rows = con.execute(_PUBLISHED, {"dialogues": list(pages)}).fetchall()
    return {**pages, **{record_id: pages[dialogue_id] for record_id, dialogue_id in rows}}


def _asked(warehouse: Warehouse) -> dict[str, str]:
    """Return what the terms of texts ask of their users, by corpus, where it is more than to name the authors."""
    asked: dict[str, set[str]] = {}
    for part in parts_of(warehouse, [select(warehouse, _TEXTS)]):
        if more := {*part.flags} - {"attribution"}:
            asked.setdefault(part.corpus_id, set()).update(flag.replace("_", "-") for flag in more)
    return {corpus_id: ", ".join(sorted(flags)) for corpus_id, flags in asked.items()}


def _disputed(con: duckdb.DuckDBPyConnection) -> dict[str, _About]:
    """Return for each corpus the turn of which its annotators say the most different things."""
    chosen = {}
    for corpus_id, dialogue_id, turn_index, scheme, bits, tied_count in con.execute(_DISPUTED).fetchall():
        tied = f"; {tied_count:,} turns tie, of which this is the first by id" if tied_count > 1 else ""
        why = f"Turn {turn_index} has the most disagreement on {scheme}: an entropy of {bits:.2f} bits{tied}."
        chosen[corpus_id] = _About(corpus_id, dialogue_id, turn_index, why)
    return chosen


def _usual(con: duckdb.DuckDBPyConnection) -> dict[str, _About]:
    """Return for each corpus a dialogue that is neither short nor long."""
    return {
        corpus_id: _About(corpus_id, dialogue_id, None, f"A dialogue of median length: {turn_count:,} turns.")
        for corpus_id, dialogue_id, turn_count in con.execute(_USUAL).fetchall()
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
    return [_turn(turn, [one for one in turn.votes if one.scheme not in hidden], known) for turn in turns if turn.row]


def _turn(turn: DialogueTurn, votes: Iterable[Votes], known: Schemes) -> ExampleTurn:
    counts, labels = dict[str, Counter[str]](), []
    for one in votes:
        if one.annotators > 1:
            counts.setdefault(one.scheme, Counter()).update(dict(one.counts))
        else:
            labels += [(one.scheme, label, known[one.scheme].labels.get(label, "")) for label, _ in one.counts]
    bars = {scheme: _bar(known[scheme], given) for scheme, given in counts.items()}
    text = turn.text
    return ExampleTurn(turn.turn_index, turn.who, text[:_LETTERS], len(text) > _LETTERS, bars, labels)


_MOST_LABELS = len(PLAIN)
"""Labels of which each has a colour of its own."""

_COUNTS = """
select
    label_counts.corpus_id,
    label_counts.scheme,
    label_counts.release,
    schemes.description,
    schemes.target,
    label_counts.label,
    sum(label_counts.vote_count)::bigint as vote_count,
from bi.label_counts
inner join main.schemes using (scheme)
where label_counts.is_default
group by all
order by label_counts.scheme, label_counts.release
"""


def _bar(scheme: LabelScheme, counts: Mapping[str, int]) -> list[BarPart]:
    return scheme.including(counts).bar(counts)


def label_counts(con: duckdb.DuckDBPyConnection, known: Schemes) -> list[dict[str, Any]]:
    """Return how often each label was given, by scheme and publisher's release of the default publication.

    Labels that are too many for a bar are numbers or free texts, and are left out.
    """
    counted: dict[tuple[str, str | None], dict[str, Any]] = {}
    for row in dicts(con.execute(_COUNTS)):
        key = row["scheme"], row["release"]
        counted.setdefault(key, {**row, "counts": {}})["counts"][row["label"] or ""] = row["vote_count"]
    few = [one for one in counted.values() if 1 < len(one["counts"]) <= _MOST_LABELS]
    return [{**one, "parts": _bar(known[one["scheme"]], one["counts"])} for one in few]
