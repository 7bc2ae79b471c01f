-- What a warehouse holds: its last build, each corpus with its counts, and the findings that are about no corpus.
with
build as (
    select load_id, finished_at, talkhouse_version, schema_revision, source
    from meta.loads
    order by load_id desc
    limit 1
),

files as (
    select corpus_id, min(modified_at) as files_from, max(modified_at) as files_until
    from meta.source_files
    where member is null
    group by corpus_id
),

reads as (
    select outcome.key as corpus_id, max(finished_at) as read_at
    from (select finished_at, unnest(map_entries(try_cast(outcome as map(varchar, varchar)))) as outcome from meta.loads)
    where outcome.value = 'loaded'
    group by outcome.key
),

counted as (
    select
        counts.corpus_id,
        counts.title,
        counts.is_sample,
        counts.made_from,
        counts.licence,
        counts.terms,
        corpora.reader_version,
        counts.dialogue_count as dialogues,
        counts.record_count as records,
        counts.turn_count as turns,
        counts.speaker_count as speakers,
        counts.persona_count as personas,
        counts.label_count as labels,
        counts.default_label_count as default_labels,
        counts.annotation_count as annotations,
        counts.candidate_count as candidates,
        counts.example_count as examples,
        counts.file_count as files,
        counts.quarantined_count as quarantined,
        counts.finding_count as findings,
        files.files_from,
        files.files_until,
        reads.read_at,
    from bi.corpora as counts
    inner join main.corpora on corpora.corpus_id = counts.corpus_id
    left join files on files.corpus_id = counts.corpus_id
    left join reads on reads.corpus_id = counts.corpus_id
)

select
    (select build from build) as build,
    coalesce((select list(counted order by corpus_id) from counted), []) as corpora,
    (select count(*) from meta.findings where corpus_id is null) as findings_without_corpus,
