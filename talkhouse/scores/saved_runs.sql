create table if not exists format as select ${format}::integer as version;
comment on table format is 'Which Talkhouse can read this file.';
comment on column format.version is 'Number of the format.';
create table if not exists runs (
    run varchar primary key,
    task varchar not null,
    splits varchar[] not null,
    releases varchar[] not null,
    subsets varchar[] not null,
    view_fingerprint varchar not null,
    predictions_sha256 varchar[] not null,
    examples bigint not null,
    missing bigint not null,
    tied bigint not null,
    talkhouse_version varchar not null,
    saved_at timestamp not null
);
create table if not exists metrics (
    run varchar not null,
    position integer not null,
    threshold double,
    slice varchar,
    metric varchar not null,
    value double,
    official boolean not null,
    best double,
    worst double,
    numerator bigint,
    denominator bigint,
    primary key (run, position)
);
update format set version = ${format};
alter table runs add column if not exists metrics_sha256 varchar;
alter table runs add column if not exists where_expression varchar;
alter table runs add column if not exists where_fingerprint varchar;
alter table runs add column if not exists release varchar;
alter table runs add column if not exists content_id varchar;
alter table runs add column if not exists content_hash varchar;
alter table runs add column if not exists rows_hash varchar;
alter table metrics add column if not exists low double;
alter table metrics add column if not exists high double;
create or replace view comparison as
select
    runs.task,
    runs.view_fingerprint,
    runs.splits,
    runs.releases,
    runs.subsets,
    runs.where_expression,
    runs.where_fingerprint,
    runs.release,
    runs.content_id,
    runs.content_hash,
    runs.rows_hash,
    metrics.threshold,
    metrics.slice,
    metrics.metric,
    metrics.official,
    metrics.value,
    metrics.low,
    metrics.high,
    runs.run,
    runs.saved_at,
from metrics
inner join runs on runs.run = metrics.run;
comment on table runs is 'One set of predictions that was scored and saved.';
comment on table metrics is 'One metric of a run: of all that was scored, or of a slice, at a threshold.';
comment on view comparison is 'Each metric with its run; comparable where fingerprints, contents and subsets agree.';
comment on column runs.run is 'Name that the run was saved under.';
comment on column runs.task is 'View of the task: corpus.task.';
comment on column runs.splits is 'Splits that were scored, by the publisher''s names.';
comment on column runs.releases is 'The publisher''s releases that were scored; empty where they have no names.';
comment on column runs.subsets is 'Published folders that the run is limited to; empty: all.';
comment on column runs.view_fingerprint is 'Fingerprint of the splits: only runs with the same are comparable.';
comment on column runs.predictions_sha256 is 'SHA-256 of each file of predictions; empty for a baseline.';
comment on column runs.examples is 'Examples that were scored.';
comment on column runs.missing is 'Examples without a prediction, counted as wrong.';
comment on column runs.tied is 'Lists with a tie at the right candidate.';
comment on column runs.talkhouse_version is 'The Talkhouse that scored it.';
comment on column runs.saved_at is 'When it was saved, UTC.';
comment on column runs.metrics_sha256 is 'SHA-256 of the SQL of its metrics; null: its examples were not kept.';
comment on column runs.where_expression is 'SQL expression that is true of the examples of the run; null: of all.';
comment on column runs.where_fingerprint is 'With such an expression, the fingerprint of the examples that it leaves.';
comment on column runs.release is 'Talkhouse release whose examples were scored; null: of none, or not known.';
comment on column runs.content_id is 'Id of the contents of that warehouse; null: not known.';
comment on column runs.content_hash is 'Hash of what a model sees of the splits; null: saved before there was one.';
comment on column runs.rows_hash is 'Hash of all columns of the splits, also of keys and places.';
comment on column metrics.run is 'The run, see runs.';
comment on column metrics.position is '0-based position in the order of the report.';
comment on column metrics.threshold is 'Threshold of the gold label, where the task has one.';
comment on column metrics.slice is 'column=value; null: all that was scored.';
comment on column metrics.metric is 'Name as the publisher''s program prints it.';
comment on column metrics.value is 'The value; under ties what a random order gives on average.';
comment on column metrics.official is 'Whether the publisher''s own program computes it.';
comment on column metrics.best is 'The value if ties were broken in favour of the predictions; null without ties.';
comment on column metrics.worst is 'The value if ties were broken against the predictions; null without ties.';
comment on column metrics.numerator is 'Numerator of a share.';
comment on column metrics.denominator is 'Denominator of a share; for a mean, how many examples have a value.';
comment on column metrics.low is 'Lower end of the 95 % interval; null where none was asked for.';
comment on column metrics.high is 'Upper end of the 95 % interval; null where none was asked for.';
