"""Dialogues to read: of the page, of each corpus the one most disagreed on and those of headlines; of the site, pages.

The choice depends on the rows alone. Their texts are shown only if the licence asks no more than to name the
authors, as ``talkhouse export`` writes such rows without acceptance of terms.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

import duckdb
from markupsafe import Markup

from talkhouse.charts.declarations import conversations
from talkhouse.charts.words import FilledHeadline
from talkhouse.dialogues.dialogue import of_default, show, show_dialogues
from talkhouse.dialogues.schemes import PLAIN, BarPart, LabelScheme, Schemes
from talkhouse.dialogues.turns import DialogueTurn, ItemList, Items, ReadableDialogue, Votes, by_content, readable
from talkhouse.escaping import visible
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


_RELEASES = """
select dialogue_id, release from bi.default_releases where dialogue_id in (select unnest($dialogues::varchar[]))
"""

_TURNS = "select dialogue_id, turn_index from main.turns where dialogue_id in (select unnest($dialogues::varchar[]))"

_FIRST_LETTERS = 160
"""Of a dialogue's first words that a list shows at most."""

_AT_ONCE = 100
"""Dialogues that are read together."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
"""Names that are safe for files on any system: no two of them differ in case alone."""


def file_name(name: str) -> str:
    """Return the name of a file or folder for a name that a corpus or its publisher gives: itself, or its hash."""
    return name if _NAME.fullmatch(name) else f"x{sha256(name.encode()).hexdigest()[:20]}"


def dialogue_path(corpus_id: str, dialogue_id: str) -> str:
    """Return the path of the page of a dialogue, from the top of the site."""
    return f"{file_name(corpus_id)}/dialogues/{sha256(dialogue_id.encode()).hexdigest()[:20]}.html"


class SplitKey(NamedTuple):
    """The key of a split among those of its corpus."""

    task: str | None
    """None: of the dialogues, whatever is made of them."""
    release: str | None
    split: str | None


@dataclass(frozen=True)
class SiteSplit:
    """A split of a task, or of the dialogues of a corpus, and its dialogues on the site."""

    corpus_id: str
    task: str | None
    """None: of the dialogues, whatever is made of them."""
    release: str | None
    split: str | None
    standard_split: str | None
    example_count: int
    dialogue_count: int
    shown: Sequence[str]
    """The ids of the dialogues that are on the site."""

    @property
    def key(self) -> SplitKey:
        """Its key among the splits of its corpus."""
        return SplitKey(self.task, self.release, self.split)

    @cached_property
    def ids(self) -> frozenset[str]:
        """The same ids, to look them up."""
        return frozenset(self.shown)

    @property
    def task_path(self) -> str:
        """The path of the page of its task, from the top of the site."""
        return f"{self._folder}/index.html"

    @property
    def path(self) -> str:
        """The path of its page, from the top of the site."""
        names = ".".join(file_name(name) for name in (self.release, self.split or "all") if name is not None)
        return f"{self._folder}/{names}.html"

    @property
    def _folder(self) -> str:
        return f"{file_name(self.corpus_id)}/" + ("splits" if self.task is None else f"tasks/{file_name(self.task)}")

    @property
    def name(self) -> str:
        """The publisher's release and the split."""
        return " ".join(name for name in (self.release, self.split or "all") if name is not None)


@dataclass(frozen=True)
class SiteDialogue:
    """A dialogue of the site with the data of its page."""

    found: Mapping[str, Any]
    """The result of ``show``."""
    read: ReadableDialogue
    records: Sequence[Mapping[str, Any]]
    """Those that it is read with: of its default publication."""
    hidden: Sequence[str]
    """Schemes that its corpus hides from readers."""

    def shown(self, items: Items) -> Iterator[tuple[Votes | ItemList, list[str]]]:
        """Yield the labels and lists of a turn or of the whole, each with the names of the records that have it."""
        for item, records in by_content(items):
            if isinstance(item, ItemList) or item.scheme not in self.hidden:
                yield item, [name for name in records if name]

    @property
    def id(self) -> str:
        """Its id."""
        return str(self.found["id"])

    @property
    def turn_count(self) -> int:
        """The number of its turns."""
        return len(self.found["turns"])

    @property
    def beginning(self) -> dict[str, Any]:
        """The first words for lists, ``words``, and whether there are more, ``is_cut``."""
        text = next((turn.text for turn in self.read.turns if turn.text), "")
        return {"words": text[:_FIRST_LETTERS], "is_cut": len(text) > _FIRST_LETTERS}


class SiteDialogues:
    """The dialogues on a site, with the splits that have them."""

    def __init__(self, warehouse: Warehouse, most: int, also: Iterable[str]) -> None:
        """Choose of each split up to ``most``, by the hashes of their ids, and ``also`` those that pages lead to."""
        self._warehouse, self.most = warehouse, most
        rows = dicts(warehouse.con.execute(sql_of(__file__, "site_splits"), {"most": most}))
        self.splits = [SiteSplit(**row) for row in rows]
        wanted = {dialogue_id for split in self.splits for dialogue_id in split.shown} | {*also}
        self.of_corpus = defaultdict[str, list[str]](list)
        """The ids of the dialogues of each corpus, in order."""
        for dialogue_id, corpus_id in warehouse.con.execute(
            sql_of(__file__, "site_corpora"), {"dialogues": [*wanted]}
        ).fetchall():
            self.of_corpus[corpus_id].append(dialogue_id)

    @property
    def count(self) -> int:
        """Their number."""
        return sum(map(len, self.of_corpus.values()))

    def places(self) -> dict[str, dict[int | None, str]]:
        """Return the path of each dialogue, and of each record with one, by the index of the turn; None: its page."""
        con, pages = self._warehouse.con, dict[str, dict[int | None, str]]()
        for corpus_id, ids in self.of_corpus.items():
            pages |= {dialogue_id: {None: dialogue_path(corpus_id, dialogue_id)} for dialogue_id in ids}
        for dialogue_id, turn_index in con.execute(_TURNS, {"dialogues": [*pages]}).fetchall():
            pages[dialogue_id][turn_index] = f"{pages[dialogue_id][None]}#turn-{turn_index}"
        return with_records(con, pages)

    def of(self, corpus_id: str) -> Iterator[SiteDialogue]:
        """Yield the dialogues of a corpus in order."""
        display = conversations(corpus_id, self._warehouse.query_files)
        hidden = display.hidden if display else ()
        every = self.of_corpus[corpus_id]
        for begin in range(0, len(every), _AT_ONCE):
            ids = every[begin : begin + _AT_ONCE]
            releases = defaultdict[str, list[str | None]](list)
            for dialogue_id, release in self._warehouse.con.execute(_RELEASES, {"dialogues": ids}).fetchall():
                releases[dialogue_id].append(release)
            for found in show_dialogues(self._warehouse.con, ids):
                records = of_default(found["records"], releases[found["id"]])
                yield SiteDialogue(found, readable(found, records), records, hidden)


class SearchedTexts:
    """The data of a corpus's search page: the texts of its dialogues, which the browser searches."""

    def __init__(self, splits: Sequence[SiteSplit]) -> None:
        """``splits``: those of the corpus; the page knows them by their places."""
        self.splits = splits
        self._dialogues: list[tuple[str, str, list[int], list[tuple[int, str, str]]]] = []

    def add(self, dialogue: SiteDialogue, path: str) -> None:
        """Add a dialogue; ``path``: of its page, from the search page."""
        stands = [place for place, split in enumerate(self.splits) if dialogue.id in split.ids]
        turns = [
            (turn.turn_index, visible(turn.who), visible(turn.text, lines=True))
            for turn in dialogue.read.turns
            if turn.text
        ]
        self._dialogues.append((path, visible(dialogue.id), stands, turns))

    @property
    def json(self) -> Markup:
        """The texts as JSON for a script element: no sign of them ends or begins an element."""
        content = json.dumps({"dialogues": self._dialogues}, ensure_ascii=False, separators=(",", ":"))
        return Markup(content.replace("<", "\\u003c"))  # noqa: S704 - no sign is left that begins an element
