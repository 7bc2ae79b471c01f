"""About: the release and contents that the warehouse is of, a site of it, releases, and what differs between two."""

import shlex
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import streamlit as st

from talkhouse.charts.fields import ChartField
from talkhouse.dashboard import errors, links, warehouse
from talkhouse.dashboard.tables import table_html
from talkhouse.dashboard.text import draw_columns, plain
from talkhouse.dashboard.warehouse import ServedWarehouse
from talkhouse.diff.compare import SHOWN
from talkhouse.diff.difference import Difference, Wanted, difference
from talkhouse.diff.sentences import corpus_line, schema_lines
from talkhouse.diff.states import State, opened_states
from talkhouse.escaping import visible
from talkhouse.releases.checkout import resolve
from talkhouse.releases.deposit import listed
from talkhouse.releases.store import RELEASES, read, store_of
from talkhouse.schema.errors import TalkhouseError
from talkhouse.warehouse.content_ids import known_ids
from talkhouse.warehouse.opened import Warehouse

_SHOWN = 200
"""Releases that are listed, the newest first."""

_ROWS = 200
"""Rows per table and change that are examined, and conversations that are listed."""

_SECONDS = 120.0
"""Seconds that a comparison may take."""

_FINISHED = "select finished_at from meta.loads order by load_id desc limit 1"


def page() -> None:
    """Draw the identity of the warehouse, and the releases of its store."""
    st.title("About", anchor=False)
    opened = warehouse.current()
    with opened.connection() as con:
        release, content_id = known_ids(con, Warehouse(con).database, opened.version.path)
    for finished in opened.rows(_FINISHED)["finished_at"]:
        st.markdown(plain(f"This warehouse: {opened.version.path.name}, of {finished:%d %B %Y, %H:%M} UTC."))
    st.markdown(plain(f"Release: {release or 'none that is known'}"))
    if content_id:
        st.markdown("Content id:")
        st.code(content_id, language=None, wrap_lines=True)
    else:
        st.caption("Its content id is known once a release is made of it, or by: talkhouse status --hash")
    st.header("Hand it on", anchor=False)
    st.markdown("As a site that needs no server and no network, with the report, and dialogues to read and to search:")
    command = ["talkhouse", "report", "--site", "site", "--db", str(opened.version.path)]
    st.code(visible(shlex.join(command), lines=True), language=None, wrap_lines=True)
    st.header("Releases", anchor=False)
    try:
        store = store_of(db=opened.version.path).absolute()
        found = listed(store)
    except TalkhouseError as error:
        st.warning(plain(str(error)))
        return
    if not found:
        st.info("There are no releases next to this warehouse. Make one with: `talkhouse release create NAME`")
        return
    newest = found[::-1][:_SHOWN]
    draw_columns(
        {
            "Release": [plain(row["name"]) for row in newest],
            "Made": [plain(row["created_at"][:10]) for row in newest],
            "Content id": [plain(row["content_id"][:8]) for row in newest],
            "Corpora": [plain(", ".join(row["corpora"])) for row in newest],
            "Rows": [f"{row['rows']:,}" for row in newest],
            "Note": [plain(row["note"] or "") for row in newest],
        }
    )
    if len(newest) > 1:
        _draw_comparison(opened, store, [row["name"] for row in newest], content_id)


def _draw_comparison(opened: ServedWarehouse, store: Path, names: Sequence[str], open_id: str | None) -> None:
    """Draw the choice of two releases, the newest first, and on request their differences."""
    st.header("What differs", anchor=False)
    columns = st.columns(2)
    with columns[0]:
        before = st.selectbox("Before", names, index=1, key="before", bind="query-params")
    with columns[1]:
        after = st.selectbox("After", names, index=0, key="after", bind="query-params")
    asks = st.button("Compare", key="compare", icon=":material/difference:")
    st.caption("The same on the command line, with the rows that differ:")
    command = ["talkhouse", "diff", f"release:{before}", f"release:{after}", "--store", str(store)]
    st.code(visible(shlex.join(command), lines=True), language=None, wrap_lines=True)
    if asks:
        with errors.shown(), st.spinner("Comparing"):
            both = [read(store, name) for name in (before, after)]
            ids = [stored.release.content_id for stored in both]
            compared = _compare(store, (before, after), (*ids, *(stored.sha256 for stored in both)))
            _draw(opened, compared, is_before=open_id == ids[0] != ids[1], is_other=open_id not in ids)


class _ConversationPlace(NamedTuple):
    """A conversation, or the record that published it, and a turn of it."""

    dialogue_id: str | None
    record_id: str | None
    turn_index: int | None


class _Changed(NamedTuple):
    """A row of a conversation or record that differs."""

    corpus: str
    what: str
    before: _ConversationPlace
    after: _ConversationPlace


class _ComparedReleases(NamedTuple):
    """The part of a difference that the page shows."""

    is_equal: bool
    schema: list[str]
    corpora: list[tuple[str, str]]
    rows: list[_Changed]
    has_more: bool
    """Whether there are more rows than were looked at."""


@st.cache_data(max_entries=8, show_spinner=False)
def _compare(
    _store: Path,
    _names: tuple[str, str],
    ids: tuple[str, ...],  # noqa: ARG001 - by the contents and manifests is a result known again, wherever they lie
) -> _ComparedReleases:
    """Compare two releases, each checked out once into the user's cache folder; one comparison at a time."""
    stopping = partial(
        warehouse.limited, path=_store, seconds=_SECONDS, next_step="compare them on the command line: talkhouse diff"
    )
    with warehouse.ONE_BESIDE:
        memory = warehouse.MEMORY_BESIDE
        states = [
            State(resolve(str(_store / RELEASES / name), as_released=True, memory=memory), name) for name in _names
        ]
        with opened_states(*states, settings={"memory_limit": memory}, stopping=stopping) as sides:
            found = difference(sides, Wanted(limit=_ROWS))
    return _ComparedReleases(
        found.is_equal,
        schema_lines(found),
        [(corpus.corpus, corpus_line(corpus, found)) for corpus in found.corpora],
        list(_changed(found)),
        any(table.counts.changes[change] > _ROWS for table in found.tables for change in SHOWN),
    )


def _changed(found: Difference) -> Iterator[_Changed]:
    """Yield the rows of tables that are of a conversation, or of a record."""
    for change in found.changes:
        if change.relation.startswith("main.") and {"dialogue_id", "record_id"} & change.key.keys():
            what = f"{change.relation.removeprefix('main.')} {change.change}"
            yield _Changed(change.corpus, what, _place(change.key_before or change.key), _place(change.key))


def _place(key: dict[str, Any]) -> _ConversationPlace:
    return _ConversationPlace(key.get("dialogue_id"), key.get("record_id"), key.get("turn_index"))


def _draw(opened: ServedWarehouse, compared: _ComparedReleases, *, is_before: bool, is_other: bool) -> None:
    """Draw a line for each corpus, and the conversations that differ, with links to those that are open here.

    ``is_before``: the open warehouse has the contents before; ``is_other``: those of neither release.
    """
    if compared.is_equal:
        st.markdown("All rows of corpora are the same: saved scores hold.")
    if compared.schema:
        st.markdown("\n".join(f"- {plain(line)}" for line in compared.schema))
    lines = {
        "Corpus": [plain(corpus) for corpus, _ in compared.corpora],
        "What became of it": [plain(line) for _, line in compared.corpora],
    }
    draw_columns(lines)
    places = [(row, row.before if is_before else row.after) for row in compared.rows]
    if not places:
        return
    of_records = _found(opened, "records", [place.record_id for _, place in places])
    there = _found(opened, "dialogues", [place.dialogue_id for _, place in places])
    listed: dict[tuple[str, str], tuple[str, set[str]]] = {}
    for row, place in places:
        dialogue_id = place.dialogue_id or of_records.get(place.record_id)
        name = dialogue_id or place.record_id or ""
        is_there = dialogue_id in there or place.record_id in of_records
        address = links.read(dialogue_id, place.turn_index, record_id=None if dialogue_id else place.record_id)
        _, whats = listed.setdefault((row.corpus, name), (address if is_there else "", set()))
        whats.add(row.what)
    shown = sorted(listed.items())[:_ROWS]
    texts = [{"corpus": key[0], "name": key[1], "what": ", ".join(sorted(whats))} for key, (_, whats) in shown]
    fields = [ChartField("corpus", "Corpus"), ChartField("name", "Dialogue"), ChartField("what", "What differs")]
    addresses = [address for _, (address, _) in shown]
    st.html(table_html("Dialogues that differ", pl.DataFrame(texts), fields, addresses))
    if compared.has_more or len(listed) > len(shown):
        st.caption(f"There is more: the page lists {_ROWS} dialogues, of the first {_ROWS} rows of each change.")
    if is_other:
        st.caption("The open warehouse is of neither release, as far as is known: what has an id in it may be another.")


_FOUND = {
    "dialogues": "select dialogue_id, dialogue_id from main.dialogues where dialogue_id in (select unnest($ids))",
    "records": "select record_id, dialogue_id from main.records where record_id in (select unnest($ids))",
}


def _found(opened: ServedWarehouse, table: str, ids: Sequence[str | None]) -> dict[str | None, str | None]:
    """Return the ids that a table of the open warehouse has, each with the id of its dialogue."""
    wanted = sorted({key for key in ids if key is not None})
    with opened.connection() as con:
        return dict(con.execute(_FOUND[table], {"ids": wanted}).fetchall()) if wanted else {}
