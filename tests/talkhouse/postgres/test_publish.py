"""What a publication replaces, keeps and refuses, on a real server."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import talkhouse
from talkhouse.postgres.publish import PublicationOutcome, verify
from talkhouse.postgres.record import FORMAT
from talkhouse.postgres.server import connected, locked
from talkhouse.releases.create import ReleaseRequest, create
from talkhouse.releases.objects import differs
from talkhouse.schema.errors import ServerFailed, TalkhouseError, UsageError
from talkhouse.warehouse.opened import Warehouse
from tests.postgres_server import SUPERUSER, WITH_PASSWORD, Database, Server
from tests.talkhouse.postgres.builds import Steps
from tests.talkhouse.postgres.conftest import Publish

Changed = Callable[[str], Path]

SCHEMAS = """
select nspname from pg_namespace where nspname !~ '^pg_' and nspname not in ('information_schema', 'public') order by 1
"""

NEW_TITLE = "update main.corpora set title = 'new' where corpus_id = 'dbdc3'"


def names(database: Database, query: str = SCHEMAS) -> list[object]:
    with database.connect() as server:
        return [value for (value,) in server.execute(query.encode()).fetchall()]


@pytest.mark.slow
def test_a_new_build_replaces_the_copy_and_an_unchanged_one_does_nothing(
    sample: Path, changed: Changed, postgres: Database, published: Publish
) -> None:
    titles = "select title from main.corpora where corpus_id = 'dbdc3'"
    oids = "select 'main.corpora'::regclass::oid"
    assert published(sample, without_views=True).outcome is PublicationOutcome.PUBLISHED
    (before,) = names(postgres, oids)
    again = published(sample, without_views=True)
    assert (again.outcome, names(postgres, oids)) == (PublicationOutcome.UNCHANGED, [before])
    assert again.published_at
    assert published(sample, without_views=True, dry_run=True).outcome is PublicationOutcome.UNCHANGED
    published(changed(NEW_TITLE), without_views=True)
    assert names(postgres, titles) == ["new"]
    assert names(postgres, oids) != [before]
    assert names(postgres) == ["main", "meta"]
    assert published(sample, without_views=True, force=True).outcome is PublicationOutcome.PUBLISHED
    assert names(postgres, titles) != ["new"]


@pytest.mark.slow
@pytest.mark.usefixtures("copied")
def test_a_copy_of_another_format_is_published_again(sample: Path, postgres: Database, published: Publish) -> None:
    names(postgres, """update meta.publication set origin = origin || '{"talkhouse_version": "0.0.1"}' returning 1""")
    assert published(sample, without_views=True).outcome is PublicationOutcome.UNCHANGED
    assert published(sample, without_views=True, format_number=FORMAT + 1).outcome is PublicationOutcome.PUBLISHED
    assert names(postgres, "select origin->>'format' from meta.publication") == [str(FORMAT + 1)]
    # As Talkhouse 0.1.0 recorded it: without a format.
    names(postgres, "update meta.publication set origin = origin - 'format' returning 1")
    assert published(sample, without_views=True, dry_run=True).outcome is PublicationOutcome.DRY_RUN
    with talkhouse.open(sample) as con, pytest.raises(ServerFailed, match=r"another format[\s\S]*next: .* publish URL"):
        verify(Warehouse(con), postgres.url(), "", Steps())


@pytest.mark.slow
def test_schemas_that_the_new_copy_does_not_have_go_with_the_old_one(
    sample: Path, postgres: Database, published: Publish
) -> None:
    published(sample, views=("delidata.outcome",))
    assert names(postgres) == ["delidata", "main", "meta"]
    outcomes = names(postgres, "select relname from pg_class where relkind in ('r', 'v') and relname ~ '^outcome'")
    assert outcomes == ["outcome", "outcome_all"]
    published(sample, without_views=True)
    assert names(postgres) == ["main", "meta"]


def test_a_copy_says_what_it_is(sample: Path, postgres: Database, published: Publish) -> None:
    published(sample, views=("delidata.outcome",), prefix="talk_")
    assert names(postgres) == ["talk_delidata", "talk_main", "talk_meta"]
    with postgres.connect() as server, talkhouse.open(sample) as con:
        comments = (
            "select obj_description('talk_{}'::regclass), col_description('talk_{}'::regclass, 1)",
            "select comment from duckdb_views() where view_name = ?",
        )
        for view in ("outcome", "outcome_all"):
            ((about, column),) = server.execute(comments[0].format(*2 * [f"delidata.{view}"]).encode()).fetchall()
            assert [(about,)] == con.execute(comments[1], [view]).fetchall()
            assert column
        indexes = server.execute("select indexdef from pg_indexes where schemaname = 'talk_delidata'").fetchall()
        assert any("(split, example_index)" in index for (index,) in indexes)
        assert any("(dialogue_id)" in index for (index,) in indexes)
        kinds = "select kind, row_count, row_hash from talk_meta.published_relations where relation = %s"
        ((kind, rows, found),) = server.execute(kinds, ["delidata.outcome_all"]).fetchall()
        assert (kind, rows, len(str(found))) == ("view of a split", 4, 16)
        assert server.execute("select origin->'build'->>'load_id' from talk_meta.publication").fetchall() == [("1",)]
        version = server.execute("select version_num from talk_meta.alembic_version").fetchall()
        assert version == con.execute("select version_num from meta.alembic_version").fetchall()


@pytest.mark.slow
def test_a_copy_says_of_which_release_it_is(
    small: Path, postgres: Database, published: Publish, tmp_path: Path
) -> None:
    db, store = Path(shutil.copyfile(small, tmp_path / "talkhouse.duckdb")), tmp_path / "store"
    published(db, without_views=True)
    create(store, db, ReleaseRequest("2026-11"))
    assert [problem.what for problem in differs(store, "2026-11", postgres.url())] == [
        "not of this release's content_id"
    ]
    published(db, without_views=True, force=True)
    assert differs(store, "2026-11", postgres.url()) == []
    assert names(postgres, "select origin->>'release' from meta.publication") == ["2026-11"]


@pytest.mark.slow
def test_rights_and_views_of_others_move_to_the_new_copy(
    sample: Path, changed: Changed, shared_postgres_server: Server, postgres: Database, published: Publish
) -> None:
    with shared_postgres_server.connect() as root:
        root.execute("create role reading; create role analysts")
    try:
        published(sample, without_views=True, grant_select="analysts")
        with postgres.connect() as server:
            for statement in (
                "grant usage on schema main to reading",
                "grant select on main.turns to reading with grant option",
                "grant select (title) on main.corpora to public",
                "create schema team",
                "create view team.titles with (security_barrier) as "
                "select title from main.corpora where corpus_id = 'dbdc3'",
                "comment on view team.titles is 'ours'",
                "grant select on team.titles to reading",
                "create view team.above as select * from team.titles",
            ):
                server.execute(statement.encode())
        assert published(changed(NEW_TITLE), without_views=True).notes == ()
        assert names(postgres, "select title from team.above") == ["new"]
        assert names(postgres, "select obj_description('team.titles'::regclass)") == ["ours"]
        assert names(postgres, "select reloptions::text from pg_class where relname = 'titles'") == [
            "{security_barrier=true}"
        ]
        for right in (
            "has_schema_privilege('reading', 'main', 'usage')",
            "has_table_privilege('reading', 'main.turns', 'select with grant option')",
            "has_table_privilege('reading', 'team.titles', 'select')",
            "has_column_privilege('public', 'main.corpora', 'title', 'select')",
            "has_table_privilege('analysts', 'meta.loads', 'select')",
            "not has_table_privilege('reading', 'main.corpora', 'select')",
        ):
            assert names(postgres, f"select {right}") == [True], right
        assert names(postgres) == ["main", "meta", "team"]
    finally:
        with postgres.connect(SUPERUSER) as root:
            root.execute("drop owned by reading, analysts; drop role reading, analysts")


@pytest.mark.slow
def test_what_cannot_move_goes_on_reading_the_old_copy_and_is_said(
    sample: Path, changed: Changed, postgres: Database, published: Publish
) -> None:
    published(sample, views=("delidata.outcome",))
    with postgres.connect() as server:
        server.execute("create schema team")
        server.execute("create view team.outcomes as select count(*) from delidata.outcome")
        server.execute("create materialized view team.titles as select title from main.corpora")
    done = published(changed(NEW_TITLE), without_views=True)
    assert [note.partition(" still")[0] for note in done.notes[:2]] == ["team.outcomes", "team.titles"]
    assert "delidata~old1, main~old1, meta~old1 stays" in done.notes[2]
    assert names(postgres, "select count from team.outcomes") == [4]
    # What cannot be dropped now is dropped as soon as nothing reads it; the view comes back with its table.
    with postgres.connect() as server:
        server.execute("drop materialized view team.titles")
    assert published(changed(""), views=("delidata.outcome",)).notes == ()
    assert names(postgres) == ["delidata", "main", "meta", "team"]


@pytest.mark.slow
@pytest.mark.usefixtures("copied")
def test_a_reader_in_a_transaction_holds_nothing_up(changed: Changed, postgres: Database, published: Publish) -> None:
    titles = "select title from main.corpora where corpus_id = 'dbdc3'"
    with postgres.connect() as reader, reader.transaction():
        reader.execute("set transaction isolation level repeatable read")
        (old,) = reader.execute(titles).fetchall()
        done = published(changed(NEW_TITLE), without_views=True)
        assert [note.partition(":")[0] for note in done.notes] == [
            "queries of this very moment may have read some of the old copy and some of the new",
            "the replaced copy in main~old1, meta~old1 stays for now",
        ]
        assert reader.execute(titles).fetchall() == [("new",)]  # all of its rows are there, and not an empty table
    assert published(changed(""), without_views=True).notes == ()
    assert names(postgres) == ["main", "meta"]
    assert old != ("new",)


@pytest.mark.slow
def test_what_talkhouse_did_not_publish_is_not_replaced(
    sample: Path, changed: Changed, postgres: Database, published: Publish
) -> None:
    with postgres.connect() as server:
        server.execute("create schema meta")
        with pytest.raises(UsageError, match="schema that Talkhouse did not publish: meta"):
            published(sample, without_views=True)
        server.execute("drop schema meta")
        published(sample, without_views=True)
        server.execute("create view main.mine as select 1 as one")
        with pytest.raises(UsageError, match=r"view main\.mine"):
            published(changed(""), without_views=True)
        assert server.execute("select one from main.mine").fetchall() == [(1,)]


@pytest.mark.slow
@pytest.mark.usefixtures("copied")
def test_a_copy_that_differs_is_not_published(changed: Changed, postgres: Database, published: Publish) -> None:
    with postgres.connect(SUPERUSER) as root:
        root.execute(
            "create function public.damage() returns trigger language plpgsql as "
            "$$ begin new.title := upper(new.title); return new; end $$"
        )
        root.execute(
            "create function public.damage_corpora() returns event_trigger language plpgsql as $$ begin "
            """if to_regclass('"main~new1".corpora') is not null """
            "and not exists (select from pg_trigger where tgname = 'd') then "
            """create trigger d before insert on "main~new1".corpora for each row execute function public.damage(); """
            "end if; end $$"
        )
        root.execute("create event trigger damage on ddl_command_end execute function public.damage_corpora()")
        before = names(postgres, "select 'main.corpora'::regclass::oid")
        with pytest.raises(ServerFailed, match=r"main\.corpora: other values in its 5 rows"):
            published(changed(""), without_views=True)
        assert names(postgres, "select 'main.corpora'::regclass::oid") == before
        assert names(postgres) == ["main", "meta"]


NUL = """
update main.turns set text = 'a' || chr(0) || 'b' where dialogue_id like 'delidata:%' and turn_index = 0;
update main.corpora set description = description || chr(0) where corpus_id = 'mpchat'
"""


@pytest.mark.slow
def test_nul_is_told_and_replaced_only_on_request(changed: Changed, postgres: Database, published: Publish) -> None:
    path = changed(NUL)
    with pytest.raises(UsageError) as failed:
        published(path, views=("bi.corpora",))
    message = str(failed.value)
    assert "main.corpora.description in 1 rows: mpchat" in message
    assert "main.turns.text in 4 rows: delidata:" in message
    assert "bi.corpora.description" in message
    assert names(postgres) == []
    published(path, views=("bi.corpora",), nul="<NUL>")
    assert names(postgres, "select distinct text from main.turns where text like '%<NUL>%'") == ["a<NUL>b"]
    for table in ("main", "bi"):
        assert names(postgres, f"select count(*) from {table}.corpora where description like '%<NUL>'") == [1]


@pytest.mark.slow
def test_nul_that_only_a_view_has_is_found(changed: Changed, published: Publish) -> None:
    path = changed(
        "update main.dialogues set extra = '{\"site\": \"a\\u0000b\"}' where corpus_id = 'mantis';"
        "create view mantis.sites as select dialogue_id, extra->>'site' as site from main.dialogues"
    )
    assert published(path, without_views=True).outcome is PublicationOutcome.PUBLISHED
    with pytest.raises(UsageError, match=r"mantis\.sites\.site in \d+ rows"):
        published(path, views=("mantis.sites",))


@pytest.mark.slow
def test_names_that_postgresql_would_cut_are_refused_where_they_are_asked_for(
    changed: Changed, published: Publish
) -> None:
    path = changed(f"create view dbdc3.{'v' * 64} as select 1 as one; create view dbdc3.fine as select 1 as {'c' * 64}")
    plan = published(path, dry_run=True).plan
    assert {relation.name.partition(".")[2] for relation in plan.left_out} == {"v" * 64, "fine"}
    assert all("PostgreSQL" in relation.reason for relation in plan.left_out)
    assert "bi.turns" in {relation.name for relation in plan.relations}
    for options in ({"views": (f"dbdc3.{'v' * 64}",)}, {"views": ("dbdc3.fine",)}, {"prefix": "p" * 56}):
        with pytest.raises(UsageError, match="too long for PostgreSQL"):
            published(path, dry_run=True, **options)
    for prefix in ("pg_", "A", "a b", '"'):
        with pytest.raises(UsageError, match="can't stand before"):
            published(path, dry_run=True, without_views=True, prefix=prefix)


@pytest.mark.slow
def test_large_views_are_left_out_unless_they_are_named(sample: Path, published: Publish) -> None:
    done = published(sample, views=("dbdc3",), max_rows=100, dry_run=True)
    assert {relation.name: relation.rows for relation in done.plan.left_out}["dbdc3.breakdown_detection"] > 100
    named = published(sample, views=("dbdc3.breakdown_detection",), max_rows=100, dry_run=True)
    assert named.plan.left_out == ()
    assert [relation.kind for relation in named.plan.relations if relation.selection.schema == "dbdc3"] == [
        "rows of a view",
        "view of a split",
        "view of a split",
    ]
    alone = published(sample, views=("dbdc3.breakdown_detection_dev",), max_rows=0, dry_run=True)
    assert [
        (relation.name, relation.kind) for relation in alone.plan.relations if relation.selection.schema == "dbdc3"
    ] == [("dbdc3.breakdown_detection_dev", "rows of a view")]
    with pytest.raises(UsageError, match=r"no view 'bi.turn'(.|\n)*bi\.turns"):
        published(sample, views=("bi.turn",))


@pytest.mark.slow
def test_types_without_a_counterpart_leave_a_view_out(changed: Changed, published: Publish) -> None:
    path = changed("create view dbdc3.odd as select {'a': 1} as s")
    (left_out,) = published(path, views=("dbdc3.odd",), dry_run=True).plan.left_out
    assert left_out.name == "dbdc3.odd"
    assert "STRUCT(a INTEGER)" in left_out.reason


@pytest.mark.slow
def test_one_publisher_at_a_time_and_the_other_is_told_who(
    sample: Path, postgres: Database, published: Publish
) -> None:
    with connected(postgres.url()) as server, locked(server, ""):
        with pytest.raises(ServerFailed, match=r"talkhouse publish, process .* as owner since 20"):
            published(sample, without_views=True)
        # Other schemas are another copy.
        assert published(sample, without_views=True, prefix="other_").outcome is PublicationOutcome.PUBLISHED


def refused(published: Publish, sample: Path, url: str) -> str:
    with pytest.raises(TalkhouseError) as failed:
        published(sample, url=url, without_views=True)
    assert failed.value.next_step or failed.value.expected
    return str(failed.value)


@pytest.mark.slow
def test_why_a_server_is_not_used(
    sample: Path, shared_postgres_server: Server, postgres: Database, published: Publish
) -> None:
    secret = "s3cr3t-w0rd"  # noqa: S105
    with shared_postgres_server.connect() as root:
        root.execute(f"create role watched login password '{secret}' in role {WITH_PASSWORD}".encode())
        root.execute("create database other_encoding owner owner template template0 encoding 'SQL_ASCII' locale 'C'")
    try:
        url = postgres.url()
        assert "role" in refused(published, sample, postgres.url("nobody"))
        assert "create the database" in refused(published, sample, url.replace(postgres.name, "nothing"))
        assert "can't be reached" in refused(published, sample, "postgresql://owner@/x?host=/nowhere")
        assert "can't be reached" in refused(published, sample, "postgresql://owner@127.0.0.1:1/x")
        assert "encoding SQL_ASCII" in refused(published, sample, url.replace(postgres.name, "other_encoding"))
        assert "grant create on database" in refused(published, sample, postgres.url("watched", secret))
        for guess in (f"{secret}x", f"{secret}@host"):
            message = refused(published, sample, postgres.url("watched", guess))
            assert "PGPASSWORD" in message
            assert secret not in message
        for odd in ("p@ss", "p/ss", "p?ss", "p#ss"):
            message = refused(published, sample, f"postgresql://watched:{secret}{odd}@localhost/{postgres.name}")
            assert "%40" in message
            assert secret not in message
            assert "ss@" not in message
        for parameter in (f"pasword={secret}", secret):
            assert secret not in refused(published, sample, f"{url}&{parameter}")
        assert secret not in refused(published, sample, f"mysql://u:{secret}@h/d")
    finally:
        with shared_postgres_server.connect() as root:
            root.execute("drop database other_encoding")
            root.execute("drop role watched")


@pytest.mark.slow
def test_a_password_is_nowhere(
    sample: Path, shared_postgres_server: Server, postgres: Database, published: Publish
) -> None:
    secret = "s3cr3t-w0rd"  # noqa: S105
    with shared_postgres_server.connect() as root:
        root.execute(f"create role careful login password '{secret}' in role {WITH_PASSWORD}".encode())
        root.execute(f"grant create on database {postgres.name} to careful".encode())
    try:
        assert secret not in repr(published(sample, url=postgres.url("careful", secret), without_views=True))
        with postgres.connect(SUPERUSER) as root:
            record = root.execute(
                "select p::text, r::text from meta.publication p, meta.published_relations r"
            ).fetchall()
            assert record
            assert secret not in repr(record)
    finally:
        with postgres.connect(SUPERUSER) as root:
            root.execute("drop owned by careful; drop role careful")


@pytest.mark.slow
def test_a_dry_run_leaves_no_trace(sample: Path, postgres: Database, published: Publish) -> None:
    done = published(sample, views=("bi",), dry_run=True)
    assert done.outcome is PublicationOutcome.DRY_RUN
    assert {relation.selection.schema for relation in done.plan.relations} == {"bi", "main", "meta"}
    assert names(postgres) == []
    with pytest.raises(UsageError, match="no role 'nobody_here'"):
        published(sample, without_views=True, dry_run=True, grant_select="nobody_here")
