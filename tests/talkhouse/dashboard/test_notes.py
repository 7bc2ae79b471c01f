"""Notes in a browser: written at a turn, seen there again, sent to Label Studio and taken back, listed, removed."""

import json
import shutil
from pathlib import Path

import duckdb
import pytest
from playwright.sync_api import Browser, expect

from talkhouse.notes.notes_file import NewNote, add, path_for, read, text_hash
from tests.accessibility import PHONE, Look
from tests.browser import served, visit
from tests.commands import run as start
from tests.samples import RELEASES
from tests.talkhouse.dashboard.pages import draw, html, messages
from tests.talkhouse.dashboard.test_accessibility import breaking
from tests.talkhouse.notes.test_notes import DIALOGUE, HOSTILE, annotated, change, texts

pytestmark = pytest.mark.slow

SHOWN = HOSTILE.replace("\t", "\\t").replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
"""As a page shows it."""


def test_a_note_is_written_shown_sent_away_taken_back_and_removed(
    sample: Path, tmp_path: Path, browser: Browser
) -> None:
    warehouse = Path(shutil.copyfile(sample, tmp_path / "talkhouse.duckdb"))
    notes, turns = path_for(warehouse), texts(warehouse)
    (tmp_path / "served").mkdir()
    with served(warehouse, tmp_path / "served") as pages, visit(browser, pages.url) as visited:
        page = visited.page
        visited.open(f"read?dialogue={DIALOGUE}")
        assert not notes.exists()
        visited.act(page.locator("#turn-4 .index a").first.click)
        page.get_by_role("textbox", name="Note on turn 4").fill(HOSTILE)
        page.get_by_role("combobox", name="Label of turn 4").fill("wrong gold")
        page.keyboard.press("Enter")
        visited.press(page.get_by_role("button", name="Save"))
        at_turn = page.locator("#turn-4 .noted")
        expect(at_turn.locator(".label")).to_have_text("wrong gold")
        expect(at_turn.locator(".says")).to_have_text(SHOWN)
        assert at_turn.locator("b, a").count() == 0
        expect(page.get_by_role("textbox", name="Note on turn 4")).to_have_value("")
        (stored,) = read(notes)
        assert (stored.turn_index, stored.label, stored.note, stored.source) == (4, "wrong gold", HOSTILE, "page")
        assert stored.text_sha256 == text_hash(turns[4])

        done = start("export", RELEASES, "--for", "labelstudio", "--notes", "--output", "tasks", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        tasks = json.loads((tmp_path / "tasks" / "tasks.json").read_text())
        (task,) = (item for item in tasks if item["data"]["dialogue_id"] == DIALOGUE)
        (tmp_path / "back.json").write_text(json.dumps([annotated(task)]))
        assert start("notes", "--take", "back.json", cwd=tmp_path).stdout == "Took 5 notes\n"

        # From Home: the list of notes, and the conversation that one is on.
        visited.open()
        visited.follow("/notes")
        expect(page.locator(".rows tbody tr")).to_have_count(6)
        visited.act(page.get_by_role("combobox", name="Author").click)
        visited.act(page.get_by_role("option", name="ann@example.org").click)
        expect(page.locator(".rows tbody tr")).to_have_count(5)
        assert "author=ann" in page.url
        with page.expect_navigation():
            page.locator(".rows tr", has_text="wrong gold").get_by_role("link").click()
        visited.drawn()
        expect(at_turn).to_have_count(2)
        expect(page.locator("#turn-3 .noted .label")).to_have_text("both")
        visited.press(page.get_by_role("button", name="Remove note 1"))
        expect(at_turn).to_have_count(1)

        # Texts change under the notes, and the file may not be written.
        turn = f"where dialogue_id = '{DIALOGUE}' and turn_index"
        change(warehouse, f"update main.turns set turn_index = 40 {turn} = 4; delete from main.turns {turn} = 3")
        notes.chmod(0o444)
        visited.open(f"read?dialogue={DIALOGUE}&turn=2")
        expect(page.locator("#turn-40 .noted .tie")).to_have_text("written on turn 4; the text stands at turn 40 now")
        expect(page.locator(".whole .noted", has_text="turn 3 is gone")).to_have_count(1)
        expect(page.locator(".whole .noted", has_text="the text has changed since")).to_have_count(2)
        page.get_by_role("textbox", name="Note on turn 2").fill("kept")
        visited.press(page.get_by_role("button", name="Save"))
        expect(page.get_by_text("the file is read-only")).to_be_visible()
        expect(page.get_by_role("textbox", name="Note on turn 2")).to_have_value("kept")

        looks: list[Look] = [("dark", PHONE), ("light", 1400)]
        assert breaking(visited, [f"read?dialogue={DIALOGUE}&turn=2", "notes"], looks) == {}
        assert visited.leave() == []


def test_a_strangers_file_of_notes_hides_no_conversation(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = Path(shutil.copyfile(sample, tmp_path / "talkhouse.duckdb"))
    monkeypatch.setenv("TALKHOUSE_DB", str(warehouse))
    add(warehouse, [NewNote(DIALOGUE, 2, "0" * 64, "odd", None, "me", "command")])
    with duckdb.connect(path_for(warehouse)) as con:
        con.execute("update notes set written_at = '290000-01-01'")
    for page in (draw("read", dialogue=DIALOGUE, turn=2), draw("notes")):
        assert not page.exception
        assert any("this is not a file of notes" in message for message in messages(page))
    assert 'id="turn-2"' in html(draw("read", dialogue=DIALOGUE, turn=2))
