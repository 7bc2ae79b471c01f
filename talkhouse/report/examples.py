"""Dialogues that the page shows, of each corpus the one most disagreed on and those of headlines; labels as bars.

Which they are depends on the rows alone. Their texts are there only where the licence asks no more than to name the
authors, as ``talkhouse export`` gives such rows without being asked to accept terms.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import duckdb

from talkhouse.charts.colours import PLAIN, label_colours
from talkhouse.charts.conversations import conversations
from talkhouse.charts.headlines import FilledHeadline
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

_TURNS = """
select turn_index, coalesce(speaker_name, speaker_id, role) as speaker, left(text, $most + 1) as text
from bi.turns
where dialogue_id = $dialogue and turn_index between $first and $last
order by turn_index
"""

_VOTES = """
select turn_index, scheme, label, sum(vote_count)::bigint as vote_count, max(annotator_count) > 1
from bi.label_counts
where
    dialogue_id = $dialogue and is_default and turn_index between $first and $last
    and not list_contains($hidden, scheme)
group by turn_index, scheme, label
order by turn_index, scheme, label
"""

_CORPUS = "select dialogue_id, corpus_id from main.dialogues where list_contains(?, dialogue_id)"


@dataclass(frozen=True)
class LabelShare:
    """A part of a bar: a label, and how many gave it."""

    label: str
    meaning: str
    count: int
    start: float
    """Where it begins, in percent of the bar."""
    share: float
    """How wide it is, in percent of the bar."""
    colour: str
    is_majority: bool


@dataclass(frozen=True)
class ExampleTurn:
    """A turn of an example."""

    turn_index: int
    speaker: str
    text: str
    is_cut: bool
    bars: dict[str, list[LabelShare]]
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


@dataclass(frozen=True)
class LabelledScheme:
    """What is declared of the labels of a scheme."""

    scale: Any
    meanings: dict[str, str]
    """By label, in their declared order."""


def examples(
    warehouse: Warehouse, said: Iterable[FilledHeadline], known: dict[str, LabelledScheme]
) -> list[DialogueExample]:
    """Return the examples of all corpora, each dialogue once; ``known``: what is declared of the labels of schemes."""
    con = warehouse.con
    of_corpora = _usual(con) | _disputed(con)
    chosen = {about.dialogue_id: about for about in of_corpora.values()}
    wanted = {one.dialogue_id: one for one in said if one.dialogue_id and one.dialogue_id not in chosen}
    rows = con.execute(_CORPUS, [list(wanted)]).fetchall()
    for dialogue_id, corpus_id in rows:
        chosen[dialogue_id] = _About(corpus_id, dialogue_id, wanted[dialogue_id].turn_index, wanted[dialogue_id].text)
    asked = _asked(warehouse)
    ordered = sorted(chosen.values(), key=lambda about: (about.corpus_id, about.dialogue_id))
    return [
        DialogueExample(f"example-{number}", about, [], asked[about.corpus_id])
        if about.corpus_id in asked
        else DialogueExample(f"example-{number}", about, _turns(warehouse, about, known))
        for number, about in enumerate(ordered, start=1)
    ]


def places(con: duckdb.DuckDBPyConnection, shown: Iterable[DialogueExample]) -> dict[str, dict[int | None, str]]:
    """Return the anchors of each dialogue that is shown, and of each record that has one, by the index of the turn.

    None is the dialogue's own.
    """
    anchors = {
        one.about.dialogue_id: {None: one.id, **{turn.turn_index: one.of_turn(turn) for turn in one.turns}}
        for one in shown
    }
    rows = con.execute(
        "select distinct record_id, dialogue_id from bi.publications where list_contains(?, dialogue_id)",
        [list(anchors)],
    )
    return anchors | {record_id: anchors[dialogue_id] for record_id, dialogue_id in rows.fetchall()}


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
        tied = f"; {tied_count:,} turns tie, and this is the first of them by its id" if tied_count > 1 else ""
        why = f"Turn {turn_index} has the most disagreement on {scheme}: an entropy of {bits:.2f} bits{tied}."
        chosen[corpus_id] = _About(corpus_id, dialogue_id, turn_index, why)
    return chosen


def _usual(con: duckdb.DuckDBPyConnection) -> dict[str, _About]:
    """Return for each corpus a dialogue that is neither short nor long."""
    return {
        corpus_id: _About(corpus_id, dialogue_id, None, f"A dialogue of median length: {turn_count:,} turns.")
        for corpus_id, dialogue_id, turn_count in con.execute(_USUAL).fetchall()
    }


def _turns(warehouse: Warehouse, about: _About, known: dict[str, LabelledScheme]) -> list[ExampleTurn]:
    shown = conversations(about.corpus_id, warehouse.query_files)
    turn_index = about.turn_index or 0
    ends = {
        "dialogue": about.dialogue_id,
        "first": max(turn_index - _BEFORE, 0),
        "last": (turn_index or _BEFORE) + _AFTER,
    }
    votes: dict[int, list[tuple[str, str, int, bool]]] = {}
    hidden = {**ends, "hidden": list(shown.hidden if shown else ())}
    for index, *vote in warehouse.con.execute(_VOTES, hidden).fetchall():
        votes.setdefault(index, []).append((vote[0], vote[1] or "", vote[2], vote[3]))
    rows = dicts(warehouse.con.execute(_TURNS, {**ends, "most": _LETTERS}))
    return [_turn(row, votes.get(row["turn_index"], []), known) for row in rows]


def _turn(
    row: dict[str, Any], votes: Iterable[tuple[str, str, int, bool]], known: dict[str, LabelledScheme]
) -> ExampleTurn:
    text = row["text"] or ""
    bars, labels = dict[str, dict[str, int]](), []
    for scheme, label, count, is_voted in votes:
        if is_voted:
            bars.setdefault(scheme, {})[label] = count
        else:
            labels.append((scheme, label, known[scheme].meanings.get(label, "")))
    shown = {scheme: _bar(known[scheme], counts) for scheme, counts in bars.items()}
    return ExampleTurn(row["turn_index"], row["speaker"], text[:_LETTERS], len(text) > _LETTERS, shown, labels)


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

_SCHEMES = """
select scheme, scale, label, meaning
from main.schemes
left join main.labels using (scheme)
order by scheme, label_index nulls last, label
"""


def labelled_schemes(con: duckdb.DuckDBPyConnection) -> dict[str, LabelledScheme]:
    """Return what is declared of the labels of each scheme."""
    known: dict[str, LabelledScheme] = {}
    for scheme, scale, label, meaning in con.execute(_SCHEMES).fetchall():
        labels = known.setdefault(scheme, LabelledScheme(scale, {})).meanings
        if label is not None:
            labels[label] = meaning or ""
    return known


def _bar(scheme: LabelledScheme, counts: dict[str, int]) -> list[LabelShare]:
    """Return the parts of a bar, in the declared order of the labels; those that are not declared come last."""
    others = sorted(counts.keys() - scheme.meanings.keys(), key=lambda label: (-counts[label], label))
    colours = label_colours([*scheme.meanings, *others], scheme.scale if scheme.meanings else None)
    total, most = sum(counts.values()), max(counts.values())
    parts, start = list[LabelShare](), 0
    for label, colour in colours.items():
        if count := counts.get(label, 0):
            place, share = round(100 * start / total, 3), round(100 * count / total, 3)
            parts.append(LabelShare(label, scheme.meanings.get(label, ""), count, place, share, colour, count == most))
            start += count
    return parts


def label_counts(con: duckdb.DuckDBPyConnection, known: dict[str, LabelledScheme]) -> list[dict[str, Any]]:
    """Return how often each label was given, by scheme and release of the default publication.

    Labels that are too many for a bar are numbers or free texts, and are left out.
    """
    counted: dict[tuple[str, str | None], dict[str, Any]] = {}
    for row in dicts(con.execute(_COUNTS)):
        key = row["scheme"], row["release"]
        counted.setdefault(key, {**row, "counts": {}})["counts"][row["label"] or ""] = row["vote_count"]
    few = [one for one in counted.values() if 1 < len(one["counts"]) <= _MOST_LABELS]
    return [{**one, "parts": _bar(known[one["scheme"]], one["counts"])} for one in few]
