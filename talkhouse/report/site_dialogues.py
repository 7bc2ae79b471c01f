"""The dialogues of a site: the choice from each split, the paths of their pages, and the contents of these."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

from markupsafe import Markup

from talkhouse.charts.declarations import conversations
from talkhouse.dialogues.dialogue import of_default, show_dialogues
from talkhouse.dialogues.turns import ItemList, Items, ReadableDialogue, Votes, by_content, readable
from talkhouse.escaping import visible
from talkhouse.report.dialogue_examples import with_records
from talkhouse.schema.sql import dicts
from talkhouse.schema.sql_files import sql_of
from talkhouse.warehouse.opened import Warehouse

_RELEASES = """
select dialogue_id, release from bi.default_releases where dialogue_id in (select unnest($dialogues::varchar[]))
"""

_TURNS = "select dialogue_id, turn_index from main.turns where dialogue_id in (select unnest($dialogues::varchar[]))"

_LETTERS = 160
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
        return {"words": text[:_LETTERS], "is_cut": len(text) > _LETTERS}


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
