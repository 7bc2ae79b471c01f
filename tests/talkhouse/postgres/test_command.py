"""``talkhouse publish`` as users type it: what it prints, its exit codes, Ctrl-C, and a driver that is not there."""

import json
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from talkhouse.postgres.server import connected
from talkhouse.schema.errors import ServerFailed, TalkhouseError, UsageError
from tests.commands import COMMAND, run
from tests.postgres_server import Database


def test_publishing_verifying_and_doing_nothing(small: Path, postgres: Database) -> None:
    publish = ("publish", postgres.url(), "--db", small, "--views", "delidata")
    planned = run(*publish, "--dry-run")
    assert "Dry run: nothing was published to database" in planned.stdout, planned.stderr
    first = run(*publish, "--json")
    found = json.loads(first.stdout)
    assert (first.returncode, found["outcome"], found["left_out"], found["notes"]) == (0, "published", [], [])
    turns = next(relation for relation in found["relations"] if relation["name"] == "main.turns")
    assert turns["kind"] == "table"
    assert len(turns["hash"]) == 16
    assert "Nothing changed: database" in run(*publish).stdout
    equal = run("publish", postgres.url(), "--db", small, "--verify")
    assert (equal.returncode, equal.stdout[:5]) == (0, "Equal"), equal.stderr


@pytest.mark.slow
def test_verifying_names_what_differs_and_publishing_by_force_mends_it(small: Path, postgres: Database) -> None:
    publish = ("publish", postgres.url(), "--db", small, "--views", "delidata")
    found = json.loads(run(*publish, "--json").stdout)
    turns = next(relation for relation in found["relations"] if relation["name"] == "main.turns")
    verify = ("publish", postgres.url(), "--db", small, "--verify")
    with postgres.connect() as server:
        server.execute(
            "update main.turns set text = text || ' ' where dialogue_id = (select min(dialogue_id) from main.turns)"
        )
        server.execute("delete from delidata.outcome where example_index = 0")
    different = run(*verify)
    assert different.returncode == 1
    assert f"main.turns: other values in its {turns['rows']:,} rows" in different.stdout
    assert "delidata.outcome: 4 rows in the warehouse, 3 in PostgreSQL" in different.stdout
    assert [row["name"] for row in json.loads(run(*verify, "--json").stdout)["different"]] == [
        "main.turns",
        "delidata.outcome",
        "delidata.outcome_all",
    ]
    assert run(*publish, "--force").returncode == 0
    assert run(*verify).returncode == 0


def test_options_that_exclude_each_other(sample: Path, postgres: Database) -> None:
    publish = ("publish", postgres.url(), "--db", sample)
    for options in (("--views", "bi", "--without-views"), ("--verify", "--force")):
        done = run(*publish, *options)
        assert (done.returncode, done.stdout) == (2, "")
        assert "next:" in done.stderr
    assert "no copy is published there" in run(*publish, "--verify").stderr


@pytest.mark.slow
def test_ctrl_c_leaves_what_was_published(sample: Path, postgres: Database) -> None:
    assert run("publish", postgres.url(), "--db", sample, "--without-views").returncode == 0
    schemas = "select array_agg(nspname::text order by nspname) from pg_namespace where nspname !~ '^(pg_|inf|public)'"
    command = [*COMMAND, "publish", postgres.url(), "--db", str(sample)]
    with postgres.connect() as server:
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        wait_until_it_copies(postgres, process)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
        assert process.returncode in (0, 130)
        if process.returncode:
            assert errors == "interrupted; what was published before is unchanged\n"
            assert server.execute(schemas).fetchall() == [(["main", "meta"],)]
    assert run("publish", postgres.url(), "--db", sample, "--verify").returncode == 0


def wait_until_it_copies(postgres: Database, process: "subprocess.Popen[str]") -> None:
    query = "select from pg_stat_activity where application_name like %s and query ilike '%%copy%%'"
    name = f"talkhouse publish, process {process.pid} on%"
    with postgres.connect() as server:
        while process.poll() is None and not server.execute(query, [name]).fetchall():
            time.sleep(0.01)


# URLs that are none: each is told to be so, without a traceback, and without the password.

PASSWORD = "s3cr3t-w0rd"  # noqa: S105

ODD = (
    *("", "\0", "postgresql:", "postgresql://[", "postgresql://]", "postgresql://[::1", "postgresql://%"),
    *("postgresql://%00", "postgresql://\udc80/d", "postgresql://h/d\0", "postgresql://\u2100/d", "postgresql://h\n/d"),
    *("postgresql://a..b/d", f"postgresql://{'a' * 70}/d", "postgresql://h/d?x", "postgresql://h/d?connect_timeout=x"),
    "postgresql://?host=%00",
)


def refused(url: str) -> TalkhouseError:
    with pytest.raises(TalkhouseError) as failed, connected(url):
        pass
    return failed.value


def test_what_is_no_url_is_said_to_be_none() -> None:
    for url in ODD:
        error = refused(url)
        assert isinstance(error, UsageError), url
        assert error.expected, url
    for url in (
        "postgresql://u:p@127.0.0.1:notaport/d",
        "postgresql://127.0.0.1:0/d",
        "postgresql://?port=x&host=/nowhere",
    ):
        assert isinstance(refused(url), ServerFailed | UsageError), url


@pytest.mark.slow
def test_a_damaged_url_gives_no_traceback_and_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "2")
    chance = random.Random(28)  # noqa: S311
    before, behind = f"postgresql://u:{PASSWORD}@", "/d?host=/nowhere&port=1&sslmode=disable"
    for _ in range(500):
        damaged = list(behind)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(damaged))] = chance.choice("[]@:/?#%&=,.\0\n \\'a1é\u202e\udc80;{}")
        assert PASSWORD not in str(refused(before + "".join(damaged))), damaged
