create table ${schema}.publication (
    published_at timestamptz not null default clock_timestamp(),
    origin jsonb not null,
    schemas text[] not null
);
comment on table ${schema}.publication is 'What this copy of a warehouse was made from, by talkhouse publish.';
comment on column ${schema}.publication.published_at is 'When it was made.';
comment on column ${schema}.publication.origin is
    'Format of the copy, build of the warehouse, what was asked for, version of Talkhouse, release and content id.';
comment on column ${schema}.publication.schemas is 'The schemas that belong to it; the next publication replaces them.';
create table ${schema}.published_relations (
    relation text primary key,
    kind text,
    row_count bigint not null,
    row_hash text,
    left_out text
);
comment on table ${schema}.published_relations is 'A relation of the warehouse: how it was published, or why not.';
comment on column ${schema}.published_relations.relation is 'Its name in the warehouse.';
comment on column ${schema}.published_relations.kind is 'table, rows of a view, or view of a split.';
comment on column ${schema}.published_relations.row_count is 'Number of its rows.';
comment on column ${schema}.published_relations.row_hash is
    'Sum of the hashes of its rows, which the warehouse has too, as talkhouse publish --verify computes them.';
comment on column ${schema}.published_relations.left_out is 'Why it was left out; null where it was not.'
