"""About: the releases that there are, and what differs between two of them."""

import shutil
from html import escape, unescape
from pathlib import Path
from typing import NamedTuple

import duckdb
import pytest
import streamlit as st
from playwright.sync_api import Browser
from streamlit.testing.v1 import AppTest

from talkhouse.dashboard import links
from talkhouse.dashboard.content import about
from talkhouse.escaping import plain, visible
from talkhouse.ingest.registry import corpora
from talkhouse.releases.create import ReleaseRequest, create
from talkhouse.schema.tables import metadata, qualified
from tests.browser import served
from tests.browser import visit as visit_in
from tests.samples import GROUPS, RELEASES
from tests.talkhouse.dashboard.conftest import Visit
from tests.talkhouse.dashboard.pages import html

pytestmark = pytest.mark.slow

EVIL = "<script>alert(1)</script> **b** [x](javascript:alert(1)) \u202e"
ONE_VOTE = """
select record_id, dialogue_id, turn_index from main.annotations
where starts_with(scheme, ?) and label = 'O' and annotator_index = 0 and item_index = 0
order by all limit 1
"""
RELABELLED = "update main.annotations set label = 'X' where record_id = ? and turn_index = ? and annotator_index = 0"
VIEW = "<img src=x onerror=alert(1)> **b**"


class Released(NamedTuple):
    """A warehouse with three releases, whose texts are a stranger's."""

    path: Path
    evil: str
    """The id of one of two dialogues in which turn 2 has changed."""
    labelled: str
    """The address of a turn with another label."""


@pytest.fixture(scope="module")
def released(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Released:
    """The samples with three releases: turns and a label change, and then a view."""
    path = Path(shutil.copyfile(sample, tmp_path_factory.mktemp("releases") / "talkhouse.duckdb"))
    store = path.parent / "releases"
    with duckdb.connect(path) as con:
        ((dialogue_id,),) = con.execute(
            "select min(dialogue_id) from main.dialogues where corpus_id = ?", [GROUPS]
        ).fetchall()
        evil = f"{dialogue_id}{EVIL}"
        for table in metadata.tables.values():
            for column in {"dialogue_id", "derived_from"} & {*table.columns.keys()}:
                con.execute(f"update {qualified(table)} set {column} = ? where {column} = ?", [evil, dialogue_id])
    create(store, path, ReleaseRequest("first"))
    with duckdb.connect(path) as con:
        last = "select max(dialogue_id) from main.dialogues where corpus_id = ?"
        changed = f"update main.turns set text = text || '!' where turn_index = 2 and dialogue_id in (?, ({last}))"
        con.execute(changed, [evil, GROUPS])
        ((record_id, labelled, turn_index),) = con.execute(ONE_VOTE, [RELEASES]).fetchall()
        con.execute(RELABELLED, [record_id, turn_index])
    create(store, path, ReleaseRequest("second", note=EVIL))
    with duckdb.connect(path) as con:
        con.execute(f'create view {GROUPS}."{VIEW}" as select 1 as one')
    create(store, path, ReleaseRequest("third"))
    return Released(path, evil, links.read(labelled, turn_index))


def tables(page: AppTest) -> list[dict[str, list[str]]]:
    return [table.value.to_dict("list") for table in page.table]


def markdown(page: AppTest) -> list[str]:
    return [element.value for element in page.markdown]


def asked(visit: Visit, path: Path, before: str, after: str) -> AppTest:
    page = visit(path, "about", before=before, after=after)
    assert len(page.table) == 1
    return page.button(key="compare").click().run()


def test_what_differs_between_two_releases_is_said_when_asked(visit: Visit, released: Released) -> None:
    """By default the newest two; dialogues that changed lead to Read, and no text of a stranger acts."""
    path, evil, labelled = released
    page = visit(path, "about")
    assert [page.selectbox(key=key).value for key in ("before", "after")] == ["second", "third"]
    assert plain(EVIL) in tables(page)[0]["Note"]
    page = page.button(key="compare").click().run()
    assert "All rows of corpora are the same: saved scores hold." in markdown(page)
    page = asked(visit, path, "first", "third")
    assert not page.exception
    assert not page.error
    found = dict(zip(*tables(page)[1].values(), strict=True))
    assert found.pop(plain(GROUPS)) == plain(f"reader {corpora()[GROUPS].version}, 2 turns changed")
    assert found.pop(plain(RELEASES)).endswith(plain(", 1 label changed"))
    assert {*found.values()} == {"unchanged"}
    assert any(plain(VIEW) in line for line in markdown(page))
    for address in (links.read(evil, 2), labelled):
        assert f'<a href="{escape(address)}">' in html(page)
    assert escape(visible(evil)) in html(page)
    assert "<script" not in html(page)
    assert not any("neither release" in element.value for element in page.caption)


def test_what_was_compared_is_known_again_and_what_is_damaged_is_not_compared(visit: Visit, released: Released) -> None:
    path, *_ = released
    first = tables(asked(visit, path, "second", "first"))[1]
    objects = path.parent / "releases" / "objects"
    hidden = objects.rename(objects.with_name("hidden"))
    try:
        again, other = (asked(visit, path, *names) for names in (("second", "first"), ("third", "first")))
    finally:
        hidden.rename(objects)
    assert tables(again)[1] == first
    assert [element.value for element in other.error] == ["This can't be shown."]
    assert any("is damaged, and was not opened" in code.value for code in other.code)


def test_rows_are_looked_at_up_to_a_number_and_the_page_says_so(
    visit: Visit, released: Released, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, evil, _ = released
    monkeypatch.setattr(about, "_ROWS", 1)
    st.cache_data.clear()
    page = asked(visit, path, "first", "third")
    assert not page.exception
    assert html(page).count("</tr>") == 2
    assert [element.value for element in page.caption if "There is more" in element.value]
    monkeypatch.setenv("TALKHOUSE_RELEASES", str(path.parent / "releases"))
    other = Path(shutil.copyfile(path, path.with_name("other.duckdb")))
    with duckdb.connect(other) as con:
        con.execute("delete from main.dialogues where dialogue_id = ?", [evil])
    st.cache_data.clear()
    page = asked(visit, other, "first", "third")
    assert links.read(evil, 2) not in unescape(html(page))
    assert any("neither release" in element.value for element in page.caption)


def test_a_conversation_that_changed_is_a_click_away(browser: Browser, released: Released, tmp_path: Path) -> None:
    """From a server, whose pages run in threads."""
    with served(released.path, tmp_path) as server, visit_in(browser, server.url) as window:
        window.open("about?before=first&after=third")
        window.press(window.page.get_by_role("button", name="Compare"))
        window.page.get_by_role("region", name="Dialogues that differ").wait_for()
        window.page.locator(f'a[href="{released.labelled}"]').click()
        window.page.locator(".turn.here").wait_for()
        assert (window.errors(), window.leave()) == ([], [])
