"""The publications of a conversation: its default one, or all side by side, with what they label otherwise."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from talkhouse.dashboard.reading.belongings import Belongings, given_html
from talkhouse.dashboard.reading.schemes import Schemes
from talkhouse.dashboard.text import tag, text
from talkhouse.dashboard.warehouse import Warehouse
from talkhouse.explore.items import Votes, leading

_RELEASES = """
select releases.release, releases.title, defaults.release is not null as is_default
from main.releases
left join bi.default_releases as defaults
    on defaults.release = releases.release and defaults.corpus_id = releases.corpus_id
    and defaults.dialogue_id = $dialogue
where releases.corpus_id = $corpus
order by releases.release_index
"""

Column = tuple[str, ...]
"""The names of records that label every turn alike."""


@dataclass(frozen=True)
class Release:
    """A release of a corpus; ``is_default``: the default publication of the conversation is of it."""

    name: str
    title: str | None
    is_default: bool

    @property
    def described(self) -> str:
        """Its name with its title."""
        return f"{self.name} ({self.title})" if self.title else self.name


def releases_of(opened: Warehouse, corpus_id: str, dialogue_id: str) -> list[Release]:
    """Return the releases of a corpus, the preferred one first; none where it has no more than one."""
    rows = opened.rows(_RELEASES, {"corpus": corpus_id, "dialogue": dialogue_id})
    return [Release(*row) for row in rows.iter_rows()]


def in_order(records: Iterable[dict[str, Any]], releases: Sequence[Release]) -> list[dict[str, Any]]:
    """Return records by the order of their releases; those of none come last."""
    places = {release.name: place for place, release in enumerate(releases)}
    return sorted(records, key=lambda record: places.get(record["release"], len(places)))


def of_default(records: Iterable[dict[str, Any]], releases: Iterable[Release]) -> list[dict[str, Any]]:
    """Return the records of the default publication, and those of no release; all where there is no default."""
    default = {None, *(release.name for release in releases if release.is_default)}
    return [record for record in records if len(default) == 1 or record["release"] in default]


def columns_of(items: Mapping[int | None, Belongings]) -> list[Column]:
    """Return the columns of a comparison: the records that have labels, in their order; alike ones share a column."""
    said: defaultdict[str, dict[int | None, list[Votes]]] = defaultdict(dict)
    for turn_index, belongings in items.items():
        for record, shown in belongings:
            if isinstance(shown, Votes):
                said[record].setdefault(turn_index, []).append(shown)
    columns: list[tuple[dict[int | None, list[Votes]], list[str]]] = []
    for record, votes in said.items():
        alike = next((records for others, records in columns if others == votes), None)
        if alike is None:
            columns.append((votes, [record]))
        else:
            alike.append(record)
    return [tuple(records) for _, records in columns]


def compared_html(items: Belongings, columns: Sequence[Column], schemes: Schemes) -> str:
    """Return the labels of a turn, a column for each publication; another majority than the first one's is marked."""
    by_column = {column[0]: [shown for name, shown in items if name == column[0]] for column in columns}
    first = {_subject(shown): leading(shown.counts) for shown in by_column[columns[0][0]] if isinstance(shown, Votes)}
    return "".join(
        tag("div", "column", "".join(_cell(shown, first, schemes) for shown in given if isinstance(shown, Votes)))
        for given in by_column.values()
    )


def _cell(votes: Votes, first: Mapping[tuple[object, ...], tuple[str, ...]], schemes: Schemes) -> str:
    before, now = first.get(_subject(votes), ()), leading(votes.counts)
    is_changed = bool(before) and set(before) != set(now)
    change = text("change", f"{' or '.join(before)} \N{RIGHTWARDS ARROW} {' or '.join(now)}") if is_changed else ""
    kind = "votes barred changed" if is_changed else "votes barred"
    return tag("div", kind, tag("div", "heading", text("name", votes.name)) + given_html(votes, schemes) + change)


def _subject(votes: Votes) -> tuple[object, ...]:
    return votes.scheme, votes.persona_set, votes.persona_position


def columns_head(columns: Sequence[Column]) -> str:
    """Return the names of the columns."""
    names = "".join(tag("div", "column", "".join(text("record", name) for name in column)) for column in columns)
    return tag("div", "turn columns", tag("div", "beside", names))
