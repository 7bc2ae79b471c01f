"""About: which release and which contents the warehouse is of, and the releases that there are."""

import streamlit as st

from talkhouse.dashboard import warehouse
from talkhouse.dashboard.text import plain
from talkhouse.releases.deposit import listed
from talkhouse.releases.store import store_of
from talkhouse.schema.errors import TalkhouseError
from talkhouse.warehouse.content_ids import known_ids
from talkhouse.warehouse.opened import Warehouse

_SHOWN = 200
"""Releases that are listed, the newest first."""

_FINISHED = "select finished_at from meta.loads order by load_id desc limit 1"


def page() -> None:
    """Draw what is known of the state of the warehouse, and the releases of its store."""
    st.title("About", anchor=False)
    opened = warehouse.current()
    with opened.connection() as con:
        release, content_id = known_ids(con, Warehouse(con).database, opened.version.path)
    for made in opened.rows(_FINISHED)["finished_at"]:
        st.markdown(plain(f"This warehouse: {opened.version.path.name}, of {made:%d %B %Y, %H:%M} UTC."))
    st.markdown(plain(f"Release: {release or 'none that is known'}"))
    if content_id:
        st.markdown("Content id:")
        st.code(content_id, language=None)
    else:
        st.caption("Its content id is known once a release is made of it, or by: talkhouse status --hash")
    st.header("Releases", anchor=False)
    try:
        found = listed(store_of(db=opened.version.path))
    except TalkhouseError as error:
        st.warning(plain(str(error)))
        return
    if not found:
        st.info("There are no releases beside this warehouse. Make one with: `talkhouse release create NAME`")
        return
    newest = found[::-1][:_SHOWN]
    st.table(
        {
            "Release": [plain(one["name"]) for one in newest],
            "Made": [plain(one["created_at"][:10]) for one in newest],
            "Content id": [plain(one["content_id"][:8]) for one in newest],
            "Corpora": [plain(", ".join(one["corpora"])) for one in newest],
            "Rows": [f"{one['rows']:,}" for one in newest],
            "Note": [plain(one["note"] or "") for one in newest],
        },
        border="horizontal",
        hide_index=True,
    )
