"""A copy that is brought up to date where it is: it has the rows of a new one, and readers wait for nothing."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.personal import PersonalData
from talkhouse.postgres import update
from talkhouse.postgres.plan import Options
from talkhouse.postgres.publish import PublicationResult, publish, verify
from talkhouse.schema.errors import UsageError
from talkhouse.warehouse import file_hashes
from talkhouse.warehouse.opened import opened
from tests.conftest import invented_builds
from tests.postgres_server import Database, Server
from tests.talkhouse.load.test_changed_files import FILES, NAMED, OF_CORPUS, Talk, talk, write
from tests.talkhouse.load.test_jobs import ALL
from tests.talkhouse.postgres.builds import Steps, contents

VIEWS = ("bi.turns", "bi.words", "bi.record_speakers")
"""One whose rows are of one dialogue, one of all, and one whose rows depend on other dialogues of a speaker."""

DAYS = {f"day-{number}": [talk(f"{number}", f"Hi {number}", "Oh\t\\N", "Er\n")] for number in range(12)}


@pytest.fixture(autouse=True)
def _few_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in ((file_hashes, "LARGE", 1), (file_hashes, "_A_FILE", 1), (update, "WORTHWHILE", 1)):
        monkeypatch.setattr(module, name, value)


def night(
    folder: Path, database: Database, files: dict[str, list[Talk]], steps: Steps | None = None, page: str = NAMED
) -> PublicationResult:
    """Make the files of a chat these, build, publish, and compare every row here and there."""
    write(folder / "data", page, files)
    build(folder / "w.duckdb", Silent(), data=folder / "data", limit=ALL)
    with opened(folder / "w.duckdb") as warehouse:
        options, keep = Options(views=VIEWS), PersonalData.KEEP
        result = publish(warehouse, database.url(), options, steps or Steps(), personal=keep)
        assert verify(warehouse, database.url(), "", Steps()).differences == ()
    return result


@pytest.fixture
def after(tmp_path: Path, postgres: Database) -> Callable[..., PublicationResult]:
    assert night(tmp_path, postgres, DAYS).changed_rows is None
    return lambda *args: night(tmp_path, postgres, *args)


def value(database: Database, query: str) -> Any:
    with database.connect() as con:
        con.execute("set lock_timeout = '1s'")
        ((found,),) = con.execute(query.encode()).fetchall()
    return found


def test_what_is_new_changed_or_gone_is_written_where_it_is(
    after: Callable[..., PublicationResult], postgres: Database, shared_postgres_server: Server, tmp_path: Path
) -> None:
    files = dict(DAYS)
    others = "from bi.turns where dialogue_id !~ ':(3|5|12)$'"
    written = f"select array_agg((tableoid, xmin, dialogue_id)::text order by dialogue_id, turn_index) {others}"
    first = value(postgres, written)
    seen: list[int] = []
    steps = Steps(lambda: seen.append(value(postgres, "select count(*) from bi.turns")))
    files |= {"day-3": [talk("3", "Hi 3", "No")], "day-12": [talk("12", "Hi 12", who="Bo")]}
    del files["day-5"]
    changed = after(files, steps)
    turns = len(files) * 3 - 3
    assert (value(postgres, written), value(postgres, "select count(*) from bi.turns")) == (first, turns)
    assert {*seen} == {36}
    assert {relation.name: relation.rows for relation in changed.plan.relations}["bi.turns"] == turns
    with shared_postgres_server.database() as another:
        (tmp_path / "other").mkdir()
        with opened(tmp_path / "w.duckdb") as warehouse:
            publish(warehouse, another.url(), Options(views=VIEWS), Steps(), personal=PersonalData.KEEP)
        assert contents(another) == contents(postgres)


@pytest.mark.slow
def test_a_row_that_stands_for_many_dialogues_changes_them_all(
    after: Callable[..., PublicationResult], postgres: Database
) -> None:
    shown = {**DAYS, "day-0": [talk("0", "Hi 0", "Oh\t\\N", "Er\n", shown="Anna")]}
    assert after(shown).changed_rows
    assert value(postgres, "select count(distinct dialogue_id) from bi.turns where speaker_name = 'Anna'") == 12


@pytest.mark.parametrize(
    "statement",
    [
        "drop table bi.turns",
        "alter table main.turns add column mine integer",
        "update meta.publication set origin = origin - 'layout'",
        """update meta.publication set origin = jsonb_set(origin, '{files}', '[1]')""",
        "update meta.publication set origin = jsonb_set(origin, '{options,max_rows}', '7')",
    ],
)
@pytest.mark.slow
def test_a_copy_that_is_not_as_it_was_made_is_made_anew(
    after: Callable[..., PublicationResult], postgres: Database, statement: str
) -> None:
    with postgres.connect() as con:
        con.execute(statement.encode())
    assert after({**DAYS, "new": [talk("new", "Hi")]}).changed_rows is None


@pytest.mark.slow
def test_more_than_a_part_of_the_rows_is_made_anew(after: Callable[..., PublicationResult]) -> None:
    assert after({name: DAYS[name] for name in list(DAYS)[:6]}).changed_rows is None


@pytest.mark.slow
def test_rows_that_the_role_has_changed_itself_are_found_by_verify(
    after: Callable[..., PublicationResult], postgres: Database
) -> None:
    with postgres.connect() as con:
        con.execute("update main.turns set text = 'x' where text = 'Hi 1'")
    with pytest.raises(AssertionError, match=r"one more item: CopyDifference[(]name='main.turns'"):
        after({**DAYS, "new": [talk("new", "Hi")]})


@pytest.mark.slow
def test_what_is_stopped_leaves_the_copy_as_it_was(after: Callable[..., PublicationResult], postgres: Database) -> None:
    before, numbers = contents(postgres), count(1)

    def stop() -> None:
        if next(numbers) == 25:  # turns are written by then, and views are not
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        after({**DAYS, "new": [talk("new", "Hi")]}, Steps(at_rows=stop))
    assert contents(postgres) == before


@pytest.mark.slow
def test_a_trigger_of_somebody_is_not_run(after: Callable[..., PublicationResult], postgres: Database) -> None:
    with postgres.connect() as con:
        con.execute("create function public.spy() returns trigger language plpgsql as 'begin return new; end'")
        con.execute("create trigger spy before insert on main.turns for each row execute function public.spy()")
    with pytest.raises(UsageError, match="spy"):
        after({**DAYS, "new": [talk("new", "Hi")]})


STATES = st.lists(st.tuples(FILES, st.sampled_from([NAMED, OF_CORPUS])), min_size=2, max_size=3)


@pytest.mark.slow
@given(states=STATES, large=st.sampled_from([1, 25]))
@invented_builds(6)
def test_whatever_changes_the_copy_is_equal(
    shared_postgres_server: Server, states: list[tuple[dict[str, list[Talk]], str]], large: int
) -> None:
    with (
        TemporaryDirectory() as name,
        shared_postgres_server.database() as database,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(file_hashes, "LARGE", large)  # with 25, only the turns are hashed by file
        for files, page in states:
            night(Path(name), database, DAYS | files, page=page)
