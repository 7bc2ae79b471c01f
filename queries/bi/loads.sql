-- Each build of this warehouse with what it did to each corpus, from which files, and how long it took.
-- grain: load_id, corpus_id
-- terms: none
--   load_id: Number of the build.
--   corpus_id: The corpus.
--   outcome: loaded: read in this build; unchanged: taken over from the build before; removed.
--   started_at: When the build began, UTC.
--   finished_at: When it was published, UTC.
--   milliseconds: Duration of the whole build, all corpora together.
--   source: Where its files came from.
--   reader_version: Version of the corpus's reader.
--   talkhouse_version: Version of Talkhouse that built it.
--   schema_revision: Schema revision.
select
    corpus_loads.loaded.key as corpus_id,
    corpus_loads.load_id,
    corpus_loads.loaded.value as outcome,
    corpus_loads.started_at,
    corpus_loads.finished_at,
    date_diff('millisecond', corpus_loads.started_at, corpus_loads.finished_at) as milliseconds,
    corpus_loads.source,
    (corpus_loads.reader_versions::map(varchar, integer))[corpus_loads.loaded.key] as reader_version,
    corpus_loads.talkhouse_version,
    corpus_loads.schema_revision,
from (
    select *, unnest(map_entries(outcome::map(varchar, varchar))) as loaded
    from meta.loads
) as corpus_loads
