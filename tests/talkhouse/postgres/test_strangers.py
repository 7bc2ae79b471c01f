"""Other roles of the database: nothing of theirs runs with the publisher's rights, is dropped, or stands in the way."""

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

import talkhouse
from talkhouse.postgres.plan import Options
from talkhouse.postgres.publish import PublicationOutcome, PublicationResult, publish, verify
from talkhouse.schema.errors import TalkhouseError, UsageError
from talkhouse.schema.sql_files import sql_of
from talkhouse.warehouse.opened import Warehouse
from tests.data_files import data_of
from tests.postgres_server import OWNER, SUPERUSER, Database
from tests.talkhouse.postgres.builds import VIEWS, Builds, Steps, schemas

DATA = data_of(__file__)

Session = psycopg.Connection[tuple[Any, ...]]

STRANGER = "stranger"

TRAP = sql_of(__file__, "strangers_trap")
"""What records the user that calls it: functions, and types that call them."""


class Place:
    """A database in which a role without rights on the copy may create schemas, and a superuser who publishes."""

    def __init__(self, database: Database, builds: Builds, root: Session, stranger: Session) -> None:
        self.database, self.root, self.stranger = database, root, stranger
        self.publisher = SUPERUSER
        self._builds = builds

    def build(self) -> None:
        """Make another build of the warehouse."""
        self._builds.next()

    def publish(self, *, without_views: bool = False, **options: Any) -> PublicationResult:
        """Publish the warehouse."""
        views = () if without_views else (VIEWS,)
        with talkhouse.open(self._builds.path) as con:
            wanted = Options(views=views, without_views=without_views)
            return publish(Warehouse(con), self.database.url(self.publisher), wanted, Steps(), **options)

    def verify(self) -> list[str]:
        """Compare the copy with the warehouse, and say what differs."""
        with talkhouse.open(self._builds.path) as con:
            return [
                str(difference)
                for difference in verify(Warehouse(con), self.database.url(self.publisher), "", Steps()).differences
            ]

    def sprung(self) -> list[tuple[Any, ...]]:
        """Fetch what ran as another role than the stranger."""
        return self.root.execute("select * from traps.sprung where who <> %s", [STRANGER]).fetchall()

    def asked(self, query: str) -> Any:
        """Fetch one value."""
        ((value,),) = self.root.execute(query.encode()).fetchall()
        return value


@pytest.fixture
def place(postgres: Database, builds: Builds) -> Iterator[Place]:
    with postgres.connect(SUPERUSER) as root:
        root.execute(f"create role {STRANGER} login".encode())
        root.execute(f"grant create on database {postgres.name} to {STRANGER}".encode())
        try:
            with postgres.connect(STRANGER) as stranger:
                stranger.execute(TRAP)
                yield Place(postgres, builds, root, stranger)
        finally:
            root.execute(f"drop owned by {STRANGER} cascade; drop role {STRANGER}".encode())


A_RECORD = DATA["a_record"]


@pytest.mark.slow
def test_a_view_in_place_of_the_record_is_not_read(place: Place) -> None:
    place.stranger.execute(A_RECORD)
    for do in (place.publish, lambda: place.publish(dry_run=True), lambda: place.publish(force=True), place.verify):
        with pytest.raises(
            UsageError, match=r"meta.publication is not what .*\n.*\n.* it is a view; its schema belongs to"
        ):
            do()
    assert place.sprung() == []


TABLES = """
create schema meta;
create table meta.publication (published_at timestamptz, origin jsonb, schemas text[]);
create table meta.published_relations (relation text, kind text, row_count bigint, row_hash text, left_out text);
insert into meta.publication values (now(), '{}', '{meta,finance}');
insert into meta.published_relations values ('finance.ledger', 'table', 1, '', null);
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [
        "",
        "alter table meta.publication enable row level security;"
        "create policy p on meta.publication using (traps.spring('a policy') is not null);"
        "grant usage on schema meta to public; grant select on all tables in schema meta to public",
    ],
    ids=["tables", "row security"],
)
@pytest.mark.parametrize("publisher", [SUPERUSER, OWNER])
def test_a_record_of_another_role_is_not_believed(place: Place, publisher: str, more: str) -> None:
    place.publisher = publisher
    place.root.execute("create schema finance create table ledger (x integer)")
    place.stranger.execute((TABLES + more).encode())
    for do in (place.publish, place.verify):
        with pytest.raises(UsageError, match="it belongs to the role stranger"):
            do()
    assert place.sprung() == []
    assert place.asked("select to_regclass('finance.ledger') is not null")


@pytest.mark.slow
@pytest.mark.usefixtures("build_copied_by_root")
def test_a_record_that_others_may_write_is_not_believed(place: Place) -> None:
    place.root.execute("create schema finance create table ledger (x integer)")
    place.root.execute(
        "grant usage on schema meta to stranger; grant insert, select on meta.published_relations to stranger"
    )
    place.root.execute("grant update (schemas) on meta.publication to stranger")
    place.stranger.execute("update meta.publication set schemas = '{meta,finance}'")
    place.stranger.execute("insert into meta.published_relations values ('finance.ledger', 'table', 1, '', null)")
    place.build()
    for do in (place.publish, place.verify, lambda: place.publish(grant_select=STRANGER)):
        with pytest.raises(
            UsageError, match=r"other roles may write (.*\n)*.*revoke insert, .* from stranger$"
        ) as failed:
            do()
    # A user who follows the message without looking loses nothing either: the schema has no mark.
    place.root.execute(str(failed.value.next_step).partition("type: ")[2].encode())
    done = place.publish(grant_select=STRANGER)
    assert done.notes == ("left alone, for nothing marks it as a part of the former copy: schema finance",)
    assert place.asked("select to_regclass('finance.ledger') is not null")
    assert not place.asked("select has_table_privilege('stranger', 'finance.ledger', 'select')")


@pytest.mark.slow
def test_nobody_else_may_write_the_record_by_default_privileges(place: Place) -> None:
    place.root.execute("alter default privileges grant all on tables to stranger")
    try:
        for _ in range(2):
            assert place.publish().outcome is PublicationOutcome.PUBLISHED
            assert place.asked("select has_table_privilege('stranger', 'meta.publication', 'select')")
            assert not place.asked(
                "select has_table_privilege('stranger', 'meta.publication', 'insert, update, delete')"
            )
            place.build()
    finally:
        place.root.execute("alter default privileges revoke all on tables from stranger")


MAY_CREATE = "grant create, usage on schema main to stranger"
OTHERS = {
    # What a stranger may do where he was given a right by mistake.
    "table": (MAY_CREATE, "create table main.more (x integer)", "table main.more"),
    "view": (
        f"{MAY_CREATE}; drop table main.turns cascade",
        "create view main.turns as select traps.spring('turns') as dialogue_id",
        "main.turns",
    ),
    "function": (
        MAY_CREATE,
        "create function main.lower(text) returns text language sql as 'select traps.spring($1)'",
        "function main.lower(text)",
    ),
    "trigger": (
        "grant usage on schema main to stranger; grant trigger on main.turns to stranger",
        "create trigger t before truncate on main.turns for each statement execute function traps.fired()",
        "trigger t on table main.turns",
    ),
    # And what the publisher may have done himself.
    "rule": ("create rule r as on delete to main.turns do instead nothing", "", "rule r on table main.turns"),
    "policy": ("create policy p on main.turns using (traps.spring(text) <> '')", "", "policy p on table main.turns"),
    "row security": ("alter table main.turns enable row level security", "", "it has row security"),
    "index": ("create index i on main.turns (traps.lowered(text))", "", "index main.i"),
    "check": ("alter table main.turns add check (traps.lowered(text) <> '-')", "", "constraint turns_text_check"),
    "default": ("alter table main.turns alter text set default traps.spring('default')", "", "default value"),
    "child": ("create table traps.child () inherits (main.turns)", "", "it inherits"),
    "owner": ("alter table main.turns owner to stranger", "", "belongs to the role stranger"),
    "split": (
        "create or replace view main.turns_of_all as select traps.spring(text) from main.turns",
        "",
        "view main.turns_of_all",
    ),
}


@pytest.mark.long
def test_what_was_not_published_stops_a_publication_and_is_named(place: Place) -> None:
    place.publish()
    before = schemas(place.database)
    place.build()
    for name, (mistake, statement, found) in OTHERS.items():
        place.root.execute(mistake.encode())
        if statement:
            place.stranger.execute(statement.encode())
        place.root.execute("delete from traps.sprung")
        for dry_run in (True, False):
            with pytest.raises(UsageError) as failed:
                place.publish(dry_run=dry_run)
            assert found in str(failed.value.found), name
            assert failed.value.next_step
        assert schemas(place.database) == before
        assert place.sprung() == [], name
        place.root.execute("drop schema main, meta, bi cascade; drop table if exists traps.child")
        place.publish()
        place.build()


@pytest.mark.slow
@pytest.mark.usefixtures("build_copied_by_root")
@pytest.mark.parametrize("name", ["view", "trigger", "policy", "index", "child", "owner"])
def test_what_was_not_published_is_not_read_to_verify(place: Place, name: str) -> None:
    mistake, statement, _ = OTHERS[name]
    place.root.execute(mistake.encode())
    if statement:
        place.stranger.execute(statement.encode())
    place.root.execute("delete from traps.sprung")
    (found,) = place.verify()
    assert found.startswith("main.turns: not read, for it is not what was published: it ")
    assert place.sprung() == []


REPLACED = "Replaced by a newer publication (prefix ''); the next one drops it, unless somebody reads it."


@pytest.mark.slow
@pytest.mark.parametrize("publisher", [SUPERUSER, OWNER])
def test_schemas_of_others_are_left_alone_whatever_their_names(place: Place, publisher: str) -> None:
    place.publisher = publisher
    place.publish()
    names = ["main~new1", "main~old1", "main~old2", "meta~old1", "x~old1", *(f"bi~new{n}" for n in range(2, 15))]
    for name in names:
        place.stranger.execute(f'create schema "{name}" create table mine (x integer)'.encode())
        place.stranger.execute(f"""comment on schema "{name}" is '{REPLACED.replace("'", "''")}'""".encode())
    with place.database.connect(STRANGER) as held:
        # Not even there yet: a session that creates the same waits for this transaction.
        held.execute('begin; create schema "main~new16"; create schema "meta~old3"')
        for _ in range(2):
            place.build()
            done = place.publish()
            assert (done.outcome, done.notes) == (PublicationOutcome.PUBLISHED, ())
        assert place.publish().outcome is PublicationOutcome.UNCHANGED
        held.execute("rollback")
    assert schemas(place.database) == sorted(["bi", "main", "meta", "traps", *names])
    assert place.asked("select count(*) from pg_class where relname = 'mine'") == len(names)


@pytest.mark.slow
@pytest.mark.usefixtures("build_copied_by_root")
def test_a_schema_that_takes_a_former_name_does_not_stop_a_publication(place: Place) -> None:
    place.root.execute("create schema team; create materialized view team.kept as select * from bi.dialogues")
    place.root.execute("create view team.moved as select * from main.dialogues")
    place.publish(without_views=True)
    place.stranger.execute("create schema bi")
    place.build()
    done = place.publish(without_views=True)
    assert (done.outcome, len(done.notes)) == (PublicationOutcome.PUBLISHED, 2)
    assert place.asked("select count(*) from team.moved") == 2
    assert place.asked("select nspowner::regrole::text from pg_namespace where nspname = 'bi'") == STRANGER


@pytest.mark.slow
def test_a_view_of_another_role_is_not_written_again(place: Place) -> None:
    """Where a view names a value of a type, to create the view checks the value, which calls what the type has."""
    place.publish(grant_select=STRANGER)
    place.stranger.execute("create view traps.theirs as select dialogue_id, '(1)'::traps.pair from main.dialogues")
    place.build()
    done = place.publish()
    assert place.sprung() == []
    assert done.notes[0] == "traps.theirs still reads the replaced copy: it belongs to another role"


@pytest.mark.slow
def test_functions_and_operators_that_hide_those_of_the_server_are_not_called(place: Place) -> None:
    place.root.execute("grant create on schema public to stranger")
    place.root.execute(
        f"alter role {SUPERUSER} in database {place.database.name} set search_path = public, pg_catalog".encode()
    )
    text = "as $$ begin perform traps.spring('shadow'); return null; end $$"
    for what in (
        "set_config(text, text, boolean) returns text",
        "hashtextextended(text, bigint) returns bigint",
        "current_database() returns name",
        "md5(text) returns text",
        "obj_description(oid, name) returns text",
        "format_type(oid, integer) returns text",
        "same(name, text) returns boolean",
    ):
        place.stranger.execute(f"create function public.{what} language plpgsql {text}".encode())
    place.stranger.execute("create operator public.= (leftarg = name, rightarg = text, procedure = public.same)")
    place.stranger.execute("create table public.pg_class (x integer); create table public.pg_roles (x integer)")
    assert place.publish().outcome is PublicationOutcome.PUBLISHED
    assert place.verify() == []
    place.build()
    assert place.publish().outcome is PublicationOutcome.PUBLISHED
    assert place.sprung() == []


@pytest.mark.slow
def test_a_lock_of_another_role_does_not_stop_a_publication(place: Place) -> None:
    place.publisher = OWNER
    place.stranger.execute("select pg_advisory_lock(hashtextextended('talkhouse publish ', 0))")
    assert place.publish().outcome is PublicationOutcome.PUBLISHED


# Copies of an earlier Talkhouse, which wrote no marks.


@pytest.mark.slow
@pytest.mark.usefixtures("build_copied_by_root")
def test_a_copy_without_marks_is_replaced_and_marked(place: Place) -> None:
    for name in ("main", "meta", "bi"):
        place.root.execute(f"comment on schema {name} is null".encode())
    assert place.verify() == []
    assert place.publish(dry_run=True).outcome is PublicationOutcome.DRY_RUN
    assert place.publish().outcome is PublicationOutcome.PUBLISHED
    assert place.publish().outcome is PublicationOutcome.UNCHANGED
    assert schemas(place.database) == ["bi", "main", "meta", "traps"]
    comments = "select distinct obj_description(oid) from pg_namespace where nspname in ('main', 'meta', 'bi')"
    assert (
        place.asked(comments) == "Published by talkhouse (prefix ''); the next publication replaces everything in it."
    )


@pytest.mark.slow
@pytest.mark.usefixtures("build_copied_by_root")
def test_a_mark_that_was_overwritten_can_be_written_again(place: Place) -> None:
    place.root.execute("comment on schema main is 'Our corpora'")
    place.build()
    with pytest.raises(UsageError, match="did not publish: main") as failed:
        place.publish()
    place.root.execute(str(failed.value.next_step).partition("the copy: ")[2].encode())
    assert place.publish().outcome is PublicationOutcome.PUBLISHED


@pytest.mark.slow
@pytest.mark.usefixtures("build_copied_by_root")
def test_of_a_copy_without_marks_no_more_is_replaced_than_is_needed(place: Place) -> None:
    for name in ("main", "meta", "bi"):
        place.root.execute(f"comment on schema {name} is null".encode())
    done = place.publish(without_views=True)
    assert done.notes == ("left alone, for nothing marks it as a part of the former copy: schema bi",)
    assert place.asked("select count(*) from bi.dialogues") == 1
    with pytest.raises(UsageError, match="did not publish: bi"):
        place.publish()


# Records of odd shape.

ODD = [
    *(f"update meta.publication set origin = '{origin}'" for origin in ("null", "1", '"a"', "[]", "{}", "[1, 2]")),
    *(
        f"update meta.publication set origin = {origin}"
        for origin in (
            "origin - 'build'",
            "origin - 'options'",
            """jsonb_set(origin, '{build}', '"x"')""",
            "jsonb_set(origin, '{build}', '{}')",
            "jsonb_set(origin, '{options}', 'null')",
            "jsonb_set(origin, '{options}', '[1]')",
            "jsonb_set(origin, '{options,more}', '1')",
            "origin #- '{options,views}'",
            "jsonb_set(origin, '{options,views}', '1')",
            "jsonb_set(origin, '{options,views}', '[1]')",
            "jsonb_set(origin, '{options,prefix}', '1')",
            "jsonb_set(origin, '{options,nul}', '1')",
            """jsonb_set(origin, '{options,max_rows}', '"5"')""",
            "jsonb_set(origin, '{options,max_rows}', '1.5')",
            "jsonb_set(origin, '{options,without_views}', '0')",
            "jsonb_set(origin, '{options}', (repeat('[', 3000) || repeat(']', 3000))::jsonb)",
            "to_jsonb(repeat('9', 100000)::numeric)",
        )
    ),
    "update meta.publication set published_at = 'infinity'",
    "update meta.publication set published_at = '100000-01-01'",
    "update meta.publication set published_at = '0044-03-15 BC'",
    "delete from meta.publication",
    "insert into meta.publication select * from meta.publication",
    "alter table meta.publication alter origin drop not null; update meta.publication set origin = null",
]
"""What makes a record that says nothing: the next publication replaces the copy."""

ODD_ROWS = DATA["odd_rows"]
"""What is in no one's way."""

ODD_COLUMNS = DATA["odd_columns"]
"""What is not the record of a copy, or lists nothing of it."""


@pytest.mark.long
def test_a_record_of_odd_shape_says_nothing_or_stops(place: Place) -> None:
    place.publisher = OWNER
    place.publish()
    with place.database.connect() as owner:
        owner.execute("create schema kept")
        for name in ("publication", "published_relations"):
            owner.execute(f"create table kept.{name} (like meta.{name} including all)".encode())
            owner.execute(f"insert into kept.{name} select * from meta.{name}".encode())
        for odd in (*ODD, *ODD_ROWS, *ODD_COLUMNS):
            owner.execute(odd.encode())
            found = [kind_of(do) for do in (place.verify, lambda: place.publish(dry_run=True))]
            if odd in ODD:
                assert found == ["UsageError", "dry run"], odd
            elif odd in ODD_ROWS:
                assert found == ["equal", "unchanged"], odd
            elif "kind" in odd or "left_out" in odd or "delete" in odd:
                assert found == ["equal", "unchanged"], odd
                assert kind_of(lambda: place.publish(force=True, dry_run=True)) == "UsageError"
            else:
                assert found == ["UsageError", "UsageError"], odd
            owner.execute("drop table if exists meta.publication, meta.published_relations")
            for name in ("publication", "published_relations"):
                owner.execute(f"create table meta.{name} (like kept.{name} including all)".encode())
                owner.execute(f"insert into meta.{name} select * from kept.{name}".encode())
        owner.execute(ODD[0].encode())
        assert place.publish().outcome is PublicationOutcome.PUBLISHED
        assert place.verify() == []


def kind_of(do: Callable[[], "PublicationResult | list[str]"]) -> str:
    """Return the outcome of a call; errors other than Talkhouse's are raised."""
    try:
        done = do()
    except TalkhouseError as error:
        return type(error).__name__ if error.next_step else "no next step"
    if isinstance(done, list):
        return "; ".join(done) or "equal"
    return str(done.outcome)
