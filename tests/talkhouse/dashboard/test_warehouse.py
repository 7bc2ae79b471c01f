"""The warehouse during builds: a replaced one is closed, but not while a page reads it."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import cycle, islice
from pathlib import Path

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.util import calc_hash

from talkhouse.dashboard import warehouse
from tests.browser import free_port, started
from tests.commands import COMMAND
from tests.talkhouse.dashboard.test_server import answers, tab, wrong


def publish(path: Path) -> None:
    """Put a copy in the place of a warehouse, as a build does."""
    Path(shutil.copyfile(path, path.with_name("new"))).replace(path)


def handles(path: Path, process: int | str = "self") -> list[str]:
    """Return the open files of a process that lie, or have lain, at a path."""
    found = []
    for handle in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # the one that lists the others
            found.append(str(handle.readlink()))
    return [file for file in found if file.startswith(str(path))]


@pytest.fixture
def copied(sample: Path, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(sample, tmp_path / "talkhouse.duckdb"))


@contextmanager
def beside(path: Path) -> Iterator[tuple[int, int]]:
    """Serve the pages of a warehouse; gives their port and process."""
    port = free_port()
    options = ["--db", path, "--port", port, "--no-browser", "--no-token"]
    with started([*COMMAND, "dashboard", *options], port, path.parent) as server:
        yield port, server.pid


def test_a_warehouse_that_was_replaced_is_closed_when_its_last_user_ends_and_not_earlier(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TALKHOUSE_DB", str(copied))
    both, count = [str(copied), f"{copied} (deleted)"], "select count(*) from main.turns"
    with warehouse.page_run():
        replaced = warehouse.current()
        held = replaced.rows_of_pages(warehouse.CORPORA)
        publish(copied)
        with warehouse.page_run():
            newer = warehouse.current()
        assert sorted(handles(copied)) == both
        rows = replaced.rows(count)  # between two queries, its page has no connection
    assert handles(copied) == [str(copied)]
    # A part of a page that is drawn again, alone.
    with newer.connection() as con:
        result = con.execute(count)
        publish(copied)
        newest = warehouse.current()
        assert sorted(handles(copied)) == both
        assert result.fetchall() == rows.rows()
    assert handles(copied) == [str(copied)]
    assert newest.rows_of_pages(warehouse.CORPORA).equals(held)


def resident(process: int) -> int:
    """Return the resident memory of a process in MB."""
    (line,) = (line for line in Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) // 1024


@pytest.mark.parametrize(
    ("publications", "loads"),
    [pytest.param(10, 4, marks=pytest.mark.slow), pytest.param(100, 10, marks=pytest.mark.long)],
)
def test_handles_and_memory_stay_flat_beside_builds(copied: Path, publications: int, loads: int) -> None:
    pages, memory = cycle(["", "about", "search", "sql", "read"]), []
    with beside(copied) as (port, process):
        for _ in range(publications):
            assert {wrong(port, page) for page in islice(pages, loads)} == {""}
            assert handles(copied, process) == [str(copied)]
            memory.append(resident(process))
            publish(copied)
        # One that stays open takes 20 MB; the pages of closed tabs, and results, are kept up to some number.
        assert memory[-1] - memory[0] < 150, memory
        while handles(copied, process):
            time.sleep(0.1)  # nobody asks for the last one


@pytest.mark.slow
def test_a_part_of_a_page_whose_warehouse_was_replaced_is_drawn_of_the_new_one(copied: Path) -> None:
    with beside(copied) as (port, process), tab(port) as opened:
        page = calc_hash("quality")
        deltas = [message.delta for message in answers(opened, page_script_hash=page)]
        receipt = next(delta for delta in deltas if "receipt" in delta.add_block.popover.id)
        publish(copied)
        assert wrong(port, "about") == ""
        assert handles(copied, process) == [str(copied)]
        state = WidgetStates(widgets=[WidgetState(id=receipt.add_block.popover.id, bool_value=True)])
        asked = {"page_script_hash": page, "fragment_id": receipt.fragment_id, "widget_states": state}
        *drawn, last = answers(opened, **asked)
        elements = [message.delta.new_element for message in drawn]
        assert not any(element.HasField("exception") or element.HasField("alert") for element in elements)
        assert any(element.markdown.body == "To cite it:" for element in elements)
        assert last.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
