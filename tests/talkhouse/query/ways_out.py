"""Ways out of the sandbox, by kind; {dir} is a folder with files, {db} the warehouse in it."""

OWN = [
    f"with x as (copy (select 1) to '{{db}}{ending}' (format {copy_format}, use_tmp_file {tmp})) from x"
    for ending in ("", ".wal", ".tmp/x", ".wal.gz")
    for copy_format in ("csv", "parquet")
    for tmp in ("true", "false")
]
"""Copies onto paths that DuckDB itself leaves open to a query: the database's file, its log, its temporary folder."""

WRITES = [
    *OWN, "with x as (copy (select 1) to '{dir}/out.csv') from x",
    "with x as (copy (select 1) to '/dev/stdout') from x",
    "with x as (copy (select 1 as a) to '{dir}/out' (format parquet, partition_by (a), overwrite)) from x",
    "with x as (copy main.turns to 's3://bucket/x') from x",
    "with x as (copy (from '{dir}/mine.csv') to '{dir}/out.csv') from x",
]  # fmt: skip
"""Writing in a SELECT: only DuckDB's settings stop it."""

REFUSED: dict[str, list[str]] = {
    "copies in a reading statement": WRITES,
    "reading functions": [
        "from read_csv('{dir}/mine.csv')", "from read_csv_auto('{dir}/mine.csv')", "from read_text('{dir}/mine.csv')",
        "from read_text(['{dir}/mine.csv'])", "from read_text($x${dir}/mine.csv$x$)",
        "from read_text(chr(47) || 'etc/passwd')", "from read_blob('{dir}/mine.csv')", "from read_blob('{db}')",
        "from read_blob('/proc/self/environ')", "from read_text('/proc/self/cmdline')", "from read_text('/dev/fd/0')",
        "from read_csv('/dev/stdin')", r"from read_csv('\\host\share\a.csv')", "from read_json('{dir}/mine.json')",
        "from read_json_auto('{dir}/mine.json')", "from read_json_objects('{dir}/mine.json')",
        "from read_json_objects_auto('{dir}/mine.json')", "from read_ndjson('{dir}/mine.json')",
        "from read_ndjson_auto('{dir}/mine.json')", "from read_ndjson_objects('{dir}/mine.json')",
        "from read_parquet('{dir}/mine.parquet')", "from parquet_scan('{dir}/mine.parquet')",
        "from parquet_metadata('{dir}/mine.parquet')", "from parquet_schema('{dir}/mine.parquet')",
        "from parquet_file_metadata('{dir}/mine.parquet')", "from parquet_kv_metadata('{dir}/mine.parquet')",
        "from parquet_full_metadata('{dir}/mine.parquet')", "from parquet_bloom_probe('{dir}/mine.parquet', 'b', 'x')",
        "from sniff_csv('{dir}/mine.csv')", "from read_duckdb('{db}', table_name = 'turns')", "from glob('{dir}/*')",
        "from glob('~/*')", "from duckdb_extensions()", "from \"read_text\"('{dir}/mine.csv')",
        "from \"READ_TEXT\"('{dir}/mine.csv')", "from system.main.read_text('{dir}/mine.csv')",
        "from main.read_text('{dir}/mine.csv')", "from read_text('{dir}/mine.csv') limit 0",
    ],
    "files as tables": [
        "from '{dir}/mine.csv'", 'from "{dir}/mine.csv"', "from '{dir}/mine.parquet'", "from '{dir}/mine.json'",
        "from '{dir}/mi?e.csv'", "from '{dir}/**/*.csv'", "from 'file://{dir}/mine.csv'", "from 'file:{dir}/mine.csv'",
        "from 'mine.csv'", "from './mine.csv'", "from '{db}'", 'table "{dir}/mine.csv"',
        "select a from '{dir}/mine.csv'", "from '{dir}/mine.csv' select a",
        "select * exclude (a) from '{dir}/mine.csv'", "from query_table(['{dir}/mine.csv'])",
        "from query_table('{dir}/mine.csv')", "from main.turns positional join '{dir}/mine.csv'",
        "from main.turns semi join '{dir}/mine.csv' using (a)",
        "from main.turns union all by name from '{dir}/mine.csv'",
        "with recursive r as (from '{dir}/mine.csv' union all from r) from r",
        "with r as materialized (from '{dir}/mine.csv') from r",
    ],
    "files in a part of a query": [
        "select (select content from read_text('{dir}/mine.csv'))",
        "values ((select count(*) from read_text('{dir}/mine.csv')))",
        "select array(select content from read_text('{dir}/mine.csv'))",
        "select [x for x in (select list(content) from read_text('{dir}/mine.csv'))]",
        "from range(3) where exists (from read_csv('{dir}/mine.csv'))",
        "from main.turns where text in (from read_text('{dir}/mine.csv') select content)",
        "from main.turns order by (select content from read_text('{dir}/mine.csv'))",
        "from main.turns limit (select count(*) from glob('/*'))",
        "select sum(1) over (order by (select count(*) from glob('/*')))",
        "from query('from read_text(''{dir}/mine.csv'')')",
        "from query('from query(''from read_text(''''{dir}/mine.csv'''')'')')",
        "from json_execute_serialized_sql(json_serialize_sql('from read_text(''{dir}/mine.csv'')'))",
        "from json_execute_serialized_sql(json_serialize_sql('from ''{dir}/mine.csv'''))",
    ],
    "describe, summarize, pivot, explain of files": [
        "describe '{dir}/mine.csv'", "describe from read_csv('{dir}/mine.csv')",
        "describe select * from '{dir}/mine.csv'", "summarize '{dir}/mine.csv'", "summarize from '{dir}/mine.csv'",
        "pivot '{dir}/mine.csv' on a using count(*)", "pivot (from read_csv('{dir}/mine.csv')) on b",
        "pivot main.turns on role in (select content from read_text('{dir}/mine.csv')) using count(*)",
        "unpivot '{dir}/mine.csv' on a", "explain from '{dir}/mine.csv'",
        "explain analyze from read_csv('{dir}/mine.csv')",
    ],
    "network": [
        "from 'https://example.invalid/a.parquet'", "from 'http://127.0.0.1:1/a.csv'",
        "from read_csv('https://example.invalid/a.csv')", "from read_text('https://example.invalid/a')",
        "from 's3://bucket/a.parquet'", "from 'gcs://bucket/a.csv'", "from 'r2://bucket/a.parquet'",
        "from 'az://bucket/a.parquet'", "from 'hf://datasets/a/b.csv'", "from 'https://example.invalid/a.duckdb'",
        "from read_duckdb('https://example.invalid/a.duckdb', table_name = 'x')",
    ],
    "functions of extensions": [
        "from read_xlsx('{dir}/x.xlsx')", "from st_read('{dir}/x.shp')", "select st_read_meta('x')",
        "from sqlite_scan('{dir}/x.db', 't')", "from mysql_query('x', 'y')", "from iceberg_scan('{dir}')",
        "from delta_scan('{dir}')", "from read_avro('{dir}/x.avro')",
        "from sql_auto_complete('select * from ''{dir}/')",
    ],
    "functions that change settings": [
        "from enable_logging()",
        "from enable_logging('QueryLog', storage = 'file', storage_config = {{'path': '{dir}/out'}})",
        "from disable_logging()",
    ],
    "explain of what does not read": [
        "explain analyze copy (select 1) to '{db}.wal' (format csv, use_tmp_file false)",
        "explain analyze copy (select 1) to '{db}' (format csv, use_tmp_file false)",
        "explain copy (select 1) to '{dir}/out.csv'",
        "explain (analyze, format json) copy (select 1) to '{dir}/out.csv'",
        "explain analyze insert into main.turns from main.turns", "explain delete from main.turns",
        "explain analyze create table x as select 1", "explain analyze create temp table x as select 1",
        "explain (analyze) create temp table x as select 1", "EXPLAIN ANALYZE CREATE TEMP TABLE x AS SELECT 1",
        "explain/**/analyze/* select */create temp table x as select 1",
        "explain -- select\nanalyze -- select\ncreate temp table x as select 1",
        "\u200bexplain analyze create temp table x as select 1", "explain analyze create temp macro m() as 1",
        "explain analyze create temp view x as select 1", "explain analyze create temp sequence x",
        "explain analyze prepare p as delete from main.turns", "explain analyze set threads = 1",
        "explain analyze load httpfs", "explain analyze checkpoint", "explain analyze call enable_logging()",
        "explain analyze drop table main.turns", "explain analyze vacuum",
    ],
    "copy": [
        "copy (select 1) to '{dir}/out.csv'", "copy main.turns to '{dir}/out.parquet'", "copy main.turns to stdout",
        "copy main.turns to '/dev/stdout' (format csv)", "copy main.turns to 's3://bucket/x'",
        "copy (from '{dir}/mine.csv') to '{dir}/out.csv'",
        "copy (select 1) to '{db}.wal' (format csv, use_tmp_file false)", "copy main.turns from '{dir}/mine.csv'",
        "copy from database w to memory", "copy from database w to memory (schema)",
        "export database '{dir}/exported'", "export database '{dir}/exported' (format parquet)",
        "import database '{dir}/exported'",
    ],
    "attach": [
        "attach ':memory:' as m", "attach '{dir}/out.duckdb' as o", "attach if not exists '{dir}/out.duckdb'",
        "attach or replace ':memory:' as w", "attach '{db}' as again", "attach '{dir}/out.db' (type sqlite)",
        "attach 'sqlite:{dir}/out.db'", "attach 'ducklake:{dir}/out'", "attach '' as p (type postgres)",
        "attach 'https://example.invalid/a.duckdb'", "detach w", "detach database if exists w", "use dbdc3",
        "use memory",
    ],
    "settings": [
        *(
            f"set {name} = {value}"
            for name, value in {
                "access_mode": "'read_write'",
                "allow_community_extensions": "true",
                "allow_unredacted_secrets": "true",
                "allow_unsigned_extensions": "true",
                "allowed_configs": "['enable_external_access']",
                "allowed_directories": "['/']",
                "allowed_paths": "['{dir}/mine.csv']",
                "autoinstall_known_extensions": "true",
                "autoload_known_extensions": "true",
                "custom_extension_repository": "'http://example.invalid'",
                "disabled_filesystems": "''",
                "enable_external_access": "true",
                "enable_logging": "true",
                "extension_directories": "['{dir}']",
                "file_search_path": "'{dir}'",
                "home_directory": "'{dir}'",
                "http_proxy": "'example.invalid'",
                "lock_configuration": "false",
                "log_query_path": "'{dir}/out.log'",
                "logging_storage": "'file'",
                "max_expression_depth": "1000000",
                "max_temp_directory_size": "'1TB'",
                "memory_limit": "'1TB'",
                "profiling_output": "'{dir}/out.json'",
                "python_enable_replacements": "true",
                "python_scan_all_frames": "true",
                "schema": "'dbdc3'",
                "search_path": "'dbdc3'",
                "secret_directory": "'{dir}'",
                "temp_directory": "'{dir}/out'",
                "threads": "64",
            }.items()
        ),
        "set global memory_limit = '1TB'", "set session threads = 64", "set threads to 64", "set time zone 'UTC'",
        "reset enable_external_access", "reset disabled_filesystems", "reset lock_configuration",
        "reset global memory_limit", "reset session threads", "set variable x = 1",
        "set variable x = (select content from read_text('{dir}/mine.csv'))", "reset variable x",
    ],
    "pragmas and calls": [
        "pragma enable_profiling", "pragma enable_verification", "pragma profiling_output = '{dir}/out.json'",
        "pragma profile_output = '{dir}/out.json'", "pragma memory_limit = '1TB'", "pragma threads = 64",
        "pragma enable_progress_bar", "pragma force_checkpoint", "pragma database_list",
        "pragma import_database('{dir}/exported')", "pragma enable_logging", "pragma truncate_duckdb_logs",
        "pragma add_parquet_key('k', '0123456789112345')",
        "call enable_logging(storage = 'file', storage_config = {{'path': '{dir}/out'}})", "call checkpoint()",
        "call pragma_version()", "call start_ui()", "call load_aws_credentials()", "call dbgen(sf = 1)",
    ],
    "extensions and secrets": [
        "install httpfs", "install httpfs from 'http://127.0.0.1:1'", "install '{dir}/x.duckdb_extension'",
        "force install spatial from community", "load httpfs", "load '{dir}/x.duckdb_extension'", "update extensions",
        "update extensions (httpfs)", "create secret s (type s3)", "create persistent secret s (type s3)",
        "create or replace temporary secret s (type http, bearer_token 'x')", "drop secret s",
    ],
    "create, change and drop": [
        "create table x as select 1", "create temp table x as from '{dir}/mine.csv'", "create view x as select 1",
        "create or replace view main.turns as select 1", "create temp view x as from '{dir}/mine.csv'",
        "create macro m() as 1", "create temp macro m(p) as table from read_text(p)", "create function f() as 1",
        "create schema x", "create sequence x", "create type x as enum ('a')", "create index x on main.turns (text)",
        "insert into main.turns from main.turns", "delete from main.turns", "truncate main.turns",
        "update main.turns set text = 'x'",
        "merge into main.turns using (select 1) x on false when not matched then insert default values",
        "drop table main.turns", "drop schema dbdc3 cascade", "drop view dbdc3.breakdown_detection",
        "alter table main.turns rename to t", "alter table main.turns add column x int",
        "comment on table main.turns is 'x'", "comment on column main.turns.text is 'x'", "checkpoint",
        "force checkpoint", "vacuum", "vacuum analyze", "analyze", "begin", "start transaction", "commit", "rollback",
        "prepare p as select 1", "prepare p as delete from main.turns", "execute p", "deallocate p",
    ],
    "several statements, comments and characters": [
        "select 1; select 2", "select 1; delete from main.turns", "select 1;drop table main.turns",
        "select 1; copy (select 1) to '{dir}/out.csv'", "select 1; set lock_configuration = false",
        "select 1; set lock_configuration = false; from '{dir}/mine.csv'", "select $$a$$; drop table main.turns",
        "select $x$ ; $$ $x$; drop table main.turns", "select 'a''b'; drop table main.turns -- '",
        "select 1 /* ; */ ; drop table main.turns /* ; */", "/* a */ /* b */ drop table main.turns",
        "-- select\ndrop table main.turns", "-- select\u2028\ndrop table main.turns", "/**/set/**/threads/**/=/**/1",
        "\ufeffdrop table main.turns", "\u200bdrop table main.turns", "\u00a0drop\u00a0table\u00a0main.turns",
        "\tDrOp\r\n\x0btAbLe\x0cmain.turns", "select 1;\u200bdrop table main.turns",
        "pivot main.turns on role using count(*); drop table main.turns",
    ],
}  # fmt: skip
"""What the sandbox refuses, and says so."""

FAILS: dict[str, list[str]] = {
    "environment and shell": [
        "select getenv('TALKHOUSE_TEST_SECRET')", "select system('ls')", "select shell('ls')",
        "select pg_read_file('/etc/passwd')", "select load_extension('x')", "from from_substrait('x')", ".shell ls",
        ".read x", r"\! ls", "copy main.turns to program 'cat'", "from __import__('os')",
    ],
    "Python's variables": [
        "from frame", 'from "frame"', "from main.frame", "from statements", "from con", "from folder", "from globals",
        "from query_table('frame')", "from query('from frame')", "select * from (from frame)", "describe frame",
        "summarize frame", "from pandas_scan(1)", "from arrow_scan(1, 2, 3)",
    ],
    "writing inside of reading": [
        "with x as (delete from main.turns returning *) from x",
        "with x as (insert into main.turns from main.turns returning *) from x",
        "with x as (update main.turns set text = 'x' returning *) from x",
        "with x as (create table y as select 1) from x", "with x as (attach ':memory:') from x",
        "with x as (set threads = 1) from x", "with x as (drop table main.turns) from x",
        "with x as (copy main.turns from '{dir}/mine.csv') from x",
        "with x as (export database '{dir}/exported') from x", "with x as (vacuum) from x",
        "from (copy (select 1) to '{dir}/out.csv')", "from (insert into main.turns from main.turns returning *)",
        "select (delete from main.turns returning 1)", "select * into x from main.turns",
        "select 1 into outfile '{dir}/out'", "from query('copy (select 1) to ''{dir}/out.csv''')",
        "from query('select 1; select 2')", "from query('attach '':memory:'' as m')", "from query('set threads = 1')",
        "from query('drop table main.turns')", "from force_checkpoint()", "explain analyze attach ':memory:' as m",
        "explain analyze use dbdc3", "explain explain analyze create temp table x as select 1",
    ],
    "paths and characters that DuckDB does not take": [
        "from read_text((select '{dir}/mine.csv'))", "from (values ('{dir}/mine.csv')) t(p), read_text(p)",
        "from (values ('{dir}/mine.csv')) t(p), lateral (from read_text(t.p))",
        "select list_transform(['{dir}/mine.csv'], lambda p: (select content from read_text(p)))",
        "select read_text('{dir}/mine.csv')", "select glob('/etc/*')", "from '{dir}/mine.csv.wal'",
        r"from e'{dir}/mine\x2ecsv'", r"from u&'{dir}/mine\002ecsv'", "from $${dir}/mine.csv$$",
        "pivot main.turns on (select content from read_text('{dir}/mine.csv')) using count(*)",
        "set local threads = 1", "\uff44rop table main.turns", "select 1\uff1b drop table main.turns",
        "drop\x00table main.turns", "do $$ begin end $$", "execute immediate 'drop table main.turns'",
    ],
}  # fmt: skip
"""What DuckDB does not know or does not take, inside the sandbox and outside of it."""

HARMLESS: dict[str, list[str]] = {
    "what DuckDB tells of itself": [
        "from duckdb_secrets()", "from which_secret('s3://x', 's3')", "from duckdb_settings()",
        "from pg_catalog.pg_settings", "select current_setting('secret_directory'), current_setting('home_directory')",
        "select current_setting('temp_directory'), current_setting('http_proxy_password')",
        "select getvariable('TALKHOUSE_TEST_SECRET')", "from duckdb_variables()", "from duckdb_logs",
        "from duckdb_temporary_files()", "from duckdb_external_file_cache()", "from duckdb_prepared_statements()",
        "show databases",
    ],
    "what does nothing": [
        "from checkpoint()", "from truncate_duckdb_logs()", "select write_log('x')", "select setseed(0.5)",
        "with r as materialized (from '{dir}/mine.csv') select 1",
        "select json_serialize_plan('from read_text(''{dir}/mine.csv'')')", "select 1 /* ; drop table main.turns */",
        "select 1 -- ; drop table main.turns", "select 1;;", "select e'a\\'; drop table main.turns --'",
        "select 'a''; drop table main.turns --'",
    ],
}  # fmt: skip
"""What runs, and neither tells a secret nor leaves anything behind."""


def every(*tables: dict[str, list[str]]) -> list[str]:
    return [query for table in tables for queries in table.values() for query in queries]
