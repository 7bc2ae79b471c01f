select format('%%s as %%s since %%s (server process %%s)', coalesce(nullif(application_name, ''), 'a connection'),
    usename, to_char(backend_start at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS UTC'), pid)
from pg_catalog.pg_locks join pg_catalog.pg_stat_activity using (pid)
where locktype = 'advisory' and database = (select oid from pg_catalog.pg_database where datname = current_database())
    and objsubid = 1 and granted and usename = current_user
    and (classid::bigint << 32) | objid::bigint = hashtextextended(%s, 0)
