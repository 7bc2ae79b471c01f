"""A query that is stopped by a time limit or a signal."""

import threading

import duckdb
import pytest

from talkhouse.system.interrupt import stoppable


def test_a_connection_that_is_closed_while_it_is_stopped_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    faults: list[object] = []
    monkeypatch.setattr(threading, "excepthook", faults.append)
    con = duckdb.connect()
    con.close()
    with stoppable(con, 0) as stop:
        assert stop.timed_out.wait(10)
    assert faults == []
