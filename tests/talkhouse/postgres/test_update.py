"""A copy that is brought up to date where it is: it has the rows of a new one, and readers wait for nothing."""

from collections.abc import Callable
from hashlib import shake_256
from itertools import count, permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.personal import PersonalData
from talkhouse.postgres import publish as publishing
from talkhouse.postgres import server, update
from talkhouse.postgres.plan import Options, make_plan
from talkhouse.postgres.publish import PublicationResult, publish, verify
from talkhouse.schema.errors import UsageError
from talkhouse.warehouse import file_hashes
from talkhouse.warehouse.opened import opened
from tests.conftest import invented_builds
from tests.postgres_server import SUPERUSER, Database, Server
from tests.talkhouse.load.test_changed_files import FILES, NAMED, OF_CORPUS, Talk, talk, write
from tests.talkhouse.load.test_jobs import ALL
from tests.talkhouse.postgres.builds import Steps, contents

VIEWS = ("bi.turns", "bi.words", "bi.record_speakers")
"""One whose rows are of one dialogue, one of all, and one whose rows depend on other dialogues of a speaker."""
OPTIONS = Options(views=VIEWS)

DAYS = {f"day-{number}": [talk(f"{number}", f"Hi {number}", "Oh\t\\N", "Er\n")] for number in range(12)}


@pytest.fixture(autouse=True)
def _few_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in ((file_hashes, "LARGE", 1), (file_hashes, "_A_FILE", 1), (update, "WORTHWHILE", 1)):
        monkeypatch.setattr(module, name, value)


def night(
    folder: Path,
    database: Database,
    files: dict[str, list[Talk]],
    steps: Steps | None = None,
    page: str = NAMED,
    options: Options = OPTIONS,
    view: str | None = None,
) -> PublicationResult:
    """Make the files of a chat these, and a view of its own this; build, publish, and compare every row."""
    write(folder / "data", page, files)
    if view:
        (folder / "data/talks/corpus.toml").unlink()
        for name, content in (("corpus.toml", page), ("queries/own.sql", view)):
            path = folder / "corpora/talks" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
    roots = (folder / "corpora",) if view else ()
    build(folder / "w.duckdb", Silent(), data=folder / "data", limit=ALL, corpus_roots=roots)
    with opened(folder / "w.duckdb") as warehouse:
        result = publish(warehouse, database.url(), options, steps or Steps(), personal=PersonalData.KEEP)
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
            publish(warehouse, another.url(), OPTIONS, Steps(), personal=PersonalData.KEEP)
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


NEW = {**DAYS, "new": [talk("new", "Hi")]}
OWN = """-- Texts.
-- grain: dialogue_id, turn_index
-- scope: dialogue
select dialogue_id, turn_index, upper(text) as text, 0.5::double as share from main.turns
"""


NUMBERS = """-- Numbers.
-- grain: dialogue_id
select turn_index as dialogue_id, count(*) as turns from main.turns group by turn_index
"""
"""Its ids are none of dialogues."""


@pytest.mark.slow
@pytest.mark.parametrize("other", [OWN.replace("upper", "lower"), NUMBERS], ids=["lower", "numbers"])
def test_a_view_that_is_computed_in_another_way_is_made_anew(tmp_path: Path, postgres: Database, other: str) -> None:
    options = Options(views=(*VIEWS, "talks.own"))
    night(tmp_path, postgres, DAYS, options=options, view=OWN)
    for files, is_anew in ((NEW, True), (DAYS, False)):
        assert (night(tmp_path, postgres, files, options=options, view=other).changed_rows is None) == is_anew
        query = "select * from talks.own order by all"
        with postgres.connect() as con, opened(tmp_path / "w.duckdb") as warehouse:
            there = con.execute(query.replace("all", "1, 2").encode()).fetchall()
            assert there == warehouse.con.execute(query).fetchall()


@pytest.mark.slow
def test_ids_with_nul_are_found(tmp_path: Path, postgres: Database) -> None:
    options = Options(views=VIEWS, nul="?")
    night(tmp_path, postgres, {**DAYS, "nul": [talk("a\0b", "Hi")]}, options=options)
    assert night(tmp_path, postgres, {**DAYS, "nul": [talk("a\0b", "Ho")]}, options=options).changed_rows
    assert value(postgres, "select text from main.turns where dialogue_id like '%:a?b'") == "Ho"


@pytest.mark.slow
def test_a_view_that_now_has_too_many_rows_is_left_out(tmp_path: Path, postgres: Database) -> None:
    options = Options(views=("bi",), max_rows=100)
    assert "bi.words" in {relation.name for relation in night(tmp_path, postgres, DAYS, options=options).plan.relations}
    many = {**DAYS, "new": [talk("new", " ".join(map("".join, permutations("abcdef", 3))))]}
    result = night(tmp_path, postgres, many, options=options)
    assert "bi.words" in {view.name for view in result.plan.left_out}
    assert value(postgres, "select to_regclass('bi.words') is null")
    assert night(tmp_path, postgres, {**many, "next": DAYS["day-1"]}, options=options).changed_rows is not None


LETTERS = str.maketrans("0123456789", "ghijklmnop")


def _long_word(_: psycopg.Connection[Any], files: dict[str, list[Talk]]) -> None:
    files["new"] = [talk("new", shake_256().hexdigest(5_000).translate(LETTERS))]


def _no_temporary_tables(con: psycopg.Connection[Any], _: object) -> None:
    con.execute(
        "do $$ begin execute format('revoke temp on database %I from public, owner', current_database()); end $$"
    )


def _held(con: psycopg.Connection[Any], _: object) -> None:
    con.execute("begin")
    con.execute("lock table main.turns in share update exclusive mode")


def _deferred(con: psycopg.Connection[Any], files: dict[str, list[Talk]]) -> None:
    con.execute("create table public.mine (id text references main.dialogues deferrable initially deferred)")
    con.execute("insert into public.mine select dialogue_id from main.dialogues")
    del files["day-3"]


@pytest.mark.slow
@pytest.mark.parametrize("prepare", [_long_word, _no_temporary_tables, _held, _deferred])
def test_a_new_copy_is_made_where_the_one_there_can_t_be_changed(
    after: Callable[..., PublicationResult],
    postgres: Database,
    monkeypatch: pytest.MonkeyPatch,
    prepare: Callable[[psycopg.Connection[Any], dict[str, list[Talk]]], None],
) -> None:
    monkeypatch.setitem(server._SETTINGS, "lock_timeout", "1s")
    files = dict(NEW)
    with postgres.connect() as con:
        prepare(con, files)
        assert after(files).changed_rows is None


@pytest.mark.slow
def test_what_somebody_else_has_published_meanwhile_is_not_taken_for_the_copy_of_before(
    after: Callable[..., PublicationResult], postgres: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = [{**DAYS, "new": [talk("new", "Hi", "Oh")]}]

    def planned(*args: Any) -> Any:
        if states:
            assert night(tmp_path, postgres, states.pop()).changed_rows
        return make_plan(*args)

    monkeypatch.setattr(publishing, "make_plan", planned)
    with postgres.connect(SUPERUSER) as con:
        con.execute("select pg_advisory_lock(hashtextextended('talkhouse publish ', 0))")
        assert after(NEW).changed_rows is None


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
