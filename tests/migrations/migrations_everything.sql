create schema other;
create table other.things (
    id integer, "a name" varchar using compression zstd not null unique, price decimal(10, 2) default 3,
    tags varchar[], inside struct(x integer), said_at timestamp, extra json, primary key (id, price),
    unique (id, "a name"), check (id > 0)
);
comment on table other.things is 'All things.';
comment on column other.things.id is 'Key.';
create index plain on other.things ("a name");
create unique index twofold on other.things (said_at, id);
create index computed on other.things ((id + 1));
create view other.seen as select id, price from other.things;
comment on view other.seen is 'Seen.';
