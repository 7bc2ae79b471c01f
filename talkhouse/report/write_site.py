"""Writes the report as a site: pages of a folder that need no server and no network, with dialogues to read and search.

The same bytes for the same build. Each corpus is in a folder of its own, under its own licence.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from talkhouse.charts.declared import NumberFormat
from talkhouse.dialogues.schemes import UNDECLARED, BarPart
from talkhouse.dialogues.turns import Votes
from talkhouse.export.personal_data import check_texts
from talkhouse.export.terms import check_terms, parts_of_corpus
from talkhouse.html_pages import environment, own_parts
from talkhouse.personal import PersonalData
from talkhouse.report.content import schemes
from talkhouse.report.dialogue_examples import (
    SearchedTexts,
    SiteDialogues,
    SiteSplit,
    SplitKey,
    dialogue_path,
    file_name,
)
from talkhouse.report.figures import of_rows
from talkhouse.report.write_report import TEMPLATES, describe
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import dicts
from talkhouse.system.atomic_output import replaced_folder
from talkhouse.warehouse.opened import Warehouse, fits_views

RECORD = "site.json"
"""The file that says which files Talkhouse wrote, each with its SHA-256: it replaces no others."""

_ABOUT = "Written by talkhouse report --site, which replaces this folder as long as it has these files and no others."

_STYLES: tuple[str, ...] = ("base.css", "style.css", "site.css")
_READING: tuple[str, ...] = ("base.css", "site.css")

_SECTIONS = {
    "agreement.html": ("Agreement", ("agreement",)),
    "quality.html": ("Findings and checks", ("findings", "checks", "overlap", "profile")),
    "licences.html": ("Licences and citations", ("licences",)),
    "dictionary.html": ("Data dictionary", ("dictionary",)),
}
"""Pages of sections of the report: the title and the sections of each."""

_COUNTS = "select corpus_id, count(*) from main.dialogues group by corpus_id"

_LABEL_HEADS: Mapping[str, tuple[str, NumberFormat | None]] = {
    "label": ("Label", None),
    "meaning": ("Meaning", None),
    "example_count": ("Examples", NumberFormat.INTEGER),
}

_LABELS = """
select task, release, split, label, any_value(label_meaning) as meaning, count(*) as example_count
from bi.example_labels where corpus_id = $corpus
group by task, release, split, label order by all
"""


@dataclass(frozen=True)
class Site:
    """A site that was written."""

    path: Path
    bytes: int
    corpora: list[dict[str, Any]]
    """Each with the ``parts`` of its licence."""
    pages: int
    dialogues: int
    all_dialogues: int
    """The number in the warehouse."""


def write_site(
    con: duckdb.DuckDBPyConnection,
    output: Path,
    *,
    most: int,
    is_accepted: bool,
    personal: PersonalData = PersonalData.ASK,
    redacted: Mapping[str, Any] | None = None,
    on_chart: Callable[[int], None] = lambda _: None,
    on_dialogues: Callable[[int], None] = lambda _: None,
    on_dialogue: Callable[[int], None] = lambda _: None,
) -> Site:
    """Write the pages into a new folder, or in place of a site that this has written.

    Of each split up to ``most`` dialogues are on it. ``personal``: what becomes of personal data in texts of corpora of
    one's own; ``redacted``: what is said of marks in its place, as ``Warehouse.redacted`` has it. ``on_chart`` and
    ``on_dialogue`` are called with 1 for each of them, ``on_dialogues`` with the number of dialogues that lie ahead.

    Raises TermsNotAccepted if a licence requires more than attribution, PersonalDataFound, UsageError for an impossible
    folder, OutputFailed if there is no room, SchemaMismatch if the views are of another version of Talkhouse.
    """
    warehouse = Warehouse(con)
    parts = [part for corpus_id in warehouse.corpus_ids for part in parts_of_corpus(warehouse, corpus_id)]
    check_terms(parts, is_accepted=is_accepted, lie_apart=True)
    check_texts(warehouse, personal)
    with replaced_folder(output, _check_own) as folder:
        described = describe(warehouse, on_chart, is_accepted=True)
        examples = [example.about.dialogue_id for corpus in described["corpora"] for example in corpus["examples"]]
        with fits_views("the site"):
            dialogues = SiteDialogues(warehouse, most, examples)
            on_dialogues(dialogues.count)
            pages = _Pages(warehouse, {**described, "redacted": redacted}, dialogues)
            written = {path: _write(folder / path, text) for path, text in pages.texts(on_dialogue)}
        record: dict[str, Any] = {"about": _ABOUT, **({"redacted": redacted} if redacted else {})}
        record["files"] = {path: digest for path, (digest, _) in sorted(written.items())}
        _write(folder / RECORD, json.dumps(record, indent=1) + "\n")
    ((count,),) = con.execute("select count(*) from main.dialogues").fetchall()
    size = sum(size for _, size in written.values())
    return Site(output, size, described["corpora"], len(written), dialogues.count, count)


def _write(path: Path, text: str) -> tuple[str, int]:
    """Write a file, and return its SHA-256 and size."""
    content = text.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return sha256(content).hexdigest(), len(content)


class _Recorded(msgspec.Struct):
    files: dict[str, str]


def _check_own(folder: Path) -> None:
    """Raise UsageError for a folder that has anything other than a site as it was written."""
    try:
        files = msgspec.json.decode((folder / RECORD).read_bytes(), type=_Recorded).files
    except (FileNotFoundError, msgspec.DecodeError):
        files = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        is_folder = path.is_dir() and not path.is_symlink()
        if not files or not (is_folder or name == RECORD or _is_as_written(path, files.get(name))):
            raise UsageError(
                "the folder has files that this has not written" if files else "the folder is not empty",
                where=path if files else folder,
                expected="a new or empty folder, or a site as talkhouse report --site wrote it",
                next_step="name another folder with --site, or empty it yourself",
            )


def _is_as_written(path: Path, digest: str | None) -> bool:
    is_file = path.is_file() and not path.is_symlink()
    return digest is not None and is_file and sha256(path.read_bytes()).hexdigest() == digest


class _Pages:
    """Makes the pages of a site."""

    def __init__(self, warehouse: Warehouse, described: Mapping[str, Any], dialogues: SiteDialogues) -> None:
        self._warehouse, self._dialogues, self._corpora = warehouse, dialogues, described["corpora"]
        self._schemes, self._environment = schemes(warehouse.con), environment(TEMPLATES)
        self._styles = {styles: own_parts(TEMPLATES, styles) for styles in (_STYLES, _READING)}
        self._views = {view.name: view for view in described["views"]}
        titles = [corpus["title"] for corpus in self._corpora]
        self._environment.globals.update(
            described,
            is_site=True,
            level=2,
            quality="quality.html",
            sections=_SECTIONS,
            site_title=titles[0] if len(titles) == 1 else f"{len(titles)} corpora of dialogues",
            most=dialogues.most,
            counts=dict(warehouse.con.execute(_COUNTS).fetchall()),
            shown_of=dialogues.of_corpus,
            places=dialogues.places(),
            folder_of=file_name,
            bar=self._bar,
        )

    def texts(self, on_dialogue: Callable[[int], None]) -> Iterator[tuple[str, str]]:
        """Yield each page: its path and its text."""
        yield "index.html", self._page("index.html", "index.html")
        for path, (title, names) in _SECTIONS.items():
            yield path, self._page("section.html", path, title=title, names=names)
        for corpus in self._corpora:
            yield from self._of_corpus(corpus, on_dialogue)

    def _of_corpus(self, corpus: Mapping[str, Any], on_dialogue: Callable[[int], None]) -> Iterator[tuple[str, str]]:
        corpus_id, rows = corpus["corpus_id"], dict[str, dict[str, Any]]()
        folder, ids = file_name(corpus_id), self._dialogues.of_corpus[corpus_id]
        splits = [split for split in self._dialogues.splits if split.corpus_id == corpus_id]
        searched = SearchedTexts(splits)
        paths = [dialogue_path(corpus_id, dialogue_id) for dialogue_id in ids]
        around = zip(paths, [None, *paths], [*paths[1:], None], self._dialogues.of(corpus_id), strict=False)
        for path, before, after, dialogue in around:
            on_dialogue(1)
            stands = [split for split in splits if dialogue.id in split.ids]
            about: dict[str, Any] = {"dialogue": dialogue, "stands": stands, "before": before, "after": after}
            yield path, self._page("dialogue.html", path, _READING, corpus=corpus, **about)
            rows[dialogue.id] = {"path": path, "turns": dialogue.turn_count, **dialogue.beginning}
            searched.add(dialogue, path.removeprefix(f"{folder}/"))
        yield self._search(corpus, f"{folder}/search.html", searched)
        labels = defaultdict[SplitKey, list[dict[str, Any]]](list)
        for row in dicts(self._warehouse.con.execute(_LABELS, {"corpus": corpus_id})):
            labels[SplitKey(row["task"], row["release"], row["split"])].append(row)
        tasks = dict[str | None, list[SiteSplit]]()
        for place, split in enumerate(splits):
            tasks.setdefault(split.task, []).append(split)
            shown = [(dialogue_id, rows[dialogue_id]) for dialogue_id in split.shown]
            table = of_rows(labels[split.key], _LABEL_HEADS, f"{corpus_id}.{split.task}")
            about = {"split": split, "place": place, "shown": shown, "labels": table}
            yield split.path, self._page("split.html", split.path, corpus=corpus, **about)
        for task, of_task in tasks.items():
            if task is not None:
                path, view = of_task[0].task_path, self._views.get(f"{corpus_id}.{task}")
                yield path, self._page("task.html", path, corpus=corpus, task=task, splits=of_task, view=view)
        path = f"{folder}/index.html"
        yield path, self._page("corpus.html", path, corpus=corpus, tasks=tasks)

    def _page(self, template: str, path: str, styles: tuple[str, ...] = _STYLES, **content: Any) -> str:
        """Fill a template; ``path``: of the page, from the top of the site."""
        root, home = "../" * path.count("/"), ""
        if "corpus" in content:
            home = f"{root}{file_name(content['corpus']['corpus_id'])}/"
        about = {"path": path, "root": root, "home": home, **self._styles[styles]}
        return self._environment.get_template(f"site/{template}").render({**about, **content})

    def _search(self, corpus: Mapping[str, Any], path: str, searched: SearchedTexts) -> tuple[str, str]:
        about = {**own_parts(TEMPLATES, _READING, "search.js"), "texts": searched.json, "splits": searched.splits}
        return path, self._page("search.html", path, corpus=corpus, **about)

    def _bar(self, votes: Votes) -> list[BarPart]:
        counts = dict(votes.counts)
        return self._schemes.get(votes.scheme, UNDECLARED).including(counts).bar(counts)
