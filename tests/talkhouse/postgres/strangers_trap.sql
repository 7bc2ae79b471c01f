create schema traps;
create table traps.sprung (who text, what text);
create function traps.spring(what text) returns text language plpgsql as $$ begin
    insert into traps.sprung values (current_user, what); return what;
end $$;
create function traps.holds(one integer) returns boolean language plpgsql immutable as $$ begin
    perform traps.spring('a domain'); return true;
end $$;
create function traps.lowered(one text) returns text language plpgsql immutable as $$ begin
    return traps.spring(one);
end $$;
create function traps.fired() returns trigger language plpgsql as $$ begin
    perform traps.spring('a trigger'); return new;
end $$;
create domain traps.small as integer check (traps.holds(value));
create type traps.pair as (one traps.small);
grant usage, create on schema traps to public;
grant all on all tables in schema traps to public;
