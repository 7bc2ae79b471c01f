"""Readers while publications replace each other: no error, no wait, and never a part of one copy with another's."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from talkhouse.postgres.publish import PublicationOutcome, PublicationResult
from tests.postgres_server import Database
from tests.talkhouse.postgres.builds import Builds, Steps, published
from tests.talkhouse.test_readers import Readers, lines

READER = """
import psycopg

(url,) = more
query = '''select (select max(load_id) from meta.loads), (select count(*) from main.records),
    (select count(*) from bi.dialogues), (select sum(records_loaded) from meta.source_files),
    (select count(*) from team.groups)'''

def connecting():
    with psycopg.connect(url, autocommit=True) as con:
        return con.execute(query).fetchone()

def prepared():
    return held.execute(query, prepare=True).fetchone()

def wide():
    found = set(held.execute(f"{query} union all ({query}) union all ({query})", prepare=False).fetchall())
    return found.pop() if len(found) == 1 else sum(found, ())

def by_cursor():
    with held.transaction(), held.cursor("rows") as rows:
        rows.execute(query)
        return rows.fetchone()

held = psycopg.connect(url, autocommit=True)
"""
"""Ways to read the number of the build and counts of what it loaded."""

KINDS = ("connecting", "prepared", "wide", "by_cursor")


TEAM = """
create schema team;
create view team.groups as select dialogue_id from main.dialogues;
create table team.gate ();
"""
"""What users have made of their own."""


@pytest.fixture
def database(build_copied: None, postgres: Database) -> Database:  # noqa: ARG001
    with postgres.connect() as con:
        con.execute(TEAM)
    return postgres


@pytest.mark.parametrize("number", [pytest.param(3, marks=pytest.mark.slow), pytest.param(8, marks=pytest.mark.long)])
def test_readers_see_one_copy_or_the_next(builds: Builds, database: Database, tmp_path: Path, number: int) -> None:
    """Each publication stands still at each of its steps until every reader has read: none of them waits for it."""
    readers = Readers(tmp_path, len(KINDS), database.url(), ways=READER, kinds=KINDS)
    readers.all_read_again()
    steps = Steps(readers.all_read_again)
    for _ in range(number):
        builds.next()
        assert published(builds.path, database, steps).outcome == PublicationOutcome.PUBLISHED
        readers.all_read_again()
    (tmp_path / "end").touch()
    assert [process.wait(timeout=300) for process in readers.processes] == [0] * len(KINDS)
    assert steps.begun >= number * 3
    counted: Counter[str] = Counter()
    for kind, file in zip(KINDS, readers.files, strict=True):
        rows = [json.loads(line) for line in lines(file)]
        assert [row for row in rows if row != [row[0]] * 5] == []  # the build of number n has n files, each a record
        seen = [row[0] for row in rows]
        assert seen == sorted(seen)
        assert set(seen) == set(range(1, number + 2))
        counted[kind] = len(rows)
    print(f"\n{sum(counted.values())} queries {dict(counted)}, {number} publications, no error")


WAITING = "select relation::regclass::text from pg_locks where not granted and locktype = 'relation' order by 1"


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.slow
def test_a_query_that_begins_before_the_replacement_sees_nothing_of_the_new_copy(
    builds: Builds, database: Database
) -> None:
    """A query finds its tables one by one; this one is held up between two of them, until the new copy is there."""
    builds.next()
    query = "select max(load_id), (select count(*) from team.gate), (select count(*) from main.records) from meta.loads"
    found: list[object] = []
    results: list[PublicationResult] = []
    with database.connect() as gate, database.connect() as con:
        gate.execute("begin; lock table team.gate")
        reader = threading.Thread(target=lambda: found.extend(con.execute(query).fetchall()))
        publisher = threading.Thread(target=lambda: results.append(published(builds.path, database)))
        reader.start()
        wait_until(lambda: gate.execute(WAITING).fetchall() == [("team.gate",)])
        publisher.start()
        wait_until(lambda: not publisher.is_alive() or len(gate.execute(WAITING).fetchall()) > 1)
        gate.execute("commit")
        reader.join()
        publisher.join()
    assert found == [(1, 0, 1)]
    assert [result.outcome for result in results] == [PublicationOutcome.PUBLISHED]
