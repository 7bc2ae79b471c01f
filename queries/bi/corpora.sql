-- Each corpus with its licence, citation and counts.
-- grain: corpus_id
-- terms: none
--   corpus_id: Id of the corpus; the schema of its task views.
--   title: Title, as its authors give it.
--   description: What it is, in a sentence or two.
--   homepage: Address of its home page.
--   licence: Licence, as its publisher names it.
--   licence_url: Address of the licence's text.
--   terms: What a user must know beyond the licence; empty where there is nothing.
--   citation: What to cite, as BibTeX or a reference.
--   year: Year in which it was published; null: not declared.
--   languages: ISO 639-1 codes, separated by spaces.
--   dialogue_count: Dialogues, each counted once however often it was published.
--   record_count: Records of the published files.
--   turn_count: Utterances.
--   speaker_count: People and bots, as far as the publisher identifies them.
--   label_count: Labels, one per annotator.
--   default_label_count: Of these, labels of the default publications of dialogues: the number to show where several of the publisher's releases have labels of one turn.
--   annotation_count: Annotations: the labels, and what has none, such as a computed number or an empty list.
--   default_annotation_count: Of these, annotations of the default publications of dialogues.
--   candidate_count: Items of candidate lists.
--   persona_count: Persona elements or sentences.
--   example_count: Examples of all its tasks.
--   default_example_count: Of these, examples from the default publications of their dialogues: one that several of the publisher's releases have counts once.
--   file_count: Input files, including members of archives.
--   quarantined_count: Records that could not be loaded.
--   finding_count: Findings: what was warned about or refused.
--   is_sample: True: invented sample data that ships with Talkhouse.
--   made_from: What its files were made from, where they are not its publisher's; null: they are, or a sample.
--   built_at: When this warehouse was built, UTC.
with
-- Few, or none: of dialogues that several of the publisher's releases publish, and of files that were given twice.
repeated as (
    select records.record_id
    from main.records
    inner join bi.default_releases
        on default_releases.dialogue_id = records.dialogue_id
        and default_releases.release is distinct from records.release
    union
    select record_id
    from main.records
    where extra ->> 'repeats' is not null
),

annotated as (
    select
        split_part(annotations.record_id, '/', 1) as corpus_id,
        repeated.record_id is null as is_default,
        count(*) as annotation_count,
        count(annotations.label) as label_count,
    from main.annotations
    left join repeated on repeated.record_id = annotations.record_id
    group by split_part(annotations.record_id, '/', 1), repeated.record_id is null
),

counts as (
    select corpus_id, 'dialogue' as thing, count(*) as amount from main.dialogues group by corpus_id
    union all
    select corpus_id, 'record', count(*) from main.records group by corpus_id
    union all
    select split_part(dialogue_id, ':', 1), 'turn', count(*) from main.turns group by split_part(dialogue_id, ':', 1)
    union all
    select corpus_id, 'speaker', count(*) from main.speakers group by corpus_id
    union all
    select corpus_id, 'annotation', sum(annotation_count)::bigint from annotated group by corpus_id
    union all
    select corpus_id, 'label', sum(label_count)::bigint from annotated group by corpus_id
    union all
    select corpus_id, 'default annotation', sum(annotation_count)::bigint from annotated where is_default group by corpus_id
    union all
    select corpus_id, 'default label', sum(label_count)::bigint from annotated where is_default group by corpus_id
    union all
    select split_part(record_id, '/', 1), 'candidate', count(*) from main.candidates group by split_part(record_id, '/', 1)
    union all
    select corpus_id, 'persona', count(*) from main.personas group by corpus_id
    union all
    select corpus_id, 'example', count(*) from main.examples group by corpus_id
    union all
    select examples.corpus_id, 'default example', count(*)
    from main.examples
    left join repeated on repeated.record_id = examples.record_id
    where repeated.record_id is null
    group by examples.corpus_id
    union all
    select corpus_id, 'file', count(*) from meta.source_files group by corpus_id
    union all
    select corpus_id, 'quarantined', count(*) from meta.quarantine group by corpus_id
    union all
    select corpus_id, 'finding', count(*) from meta.findings group by corpus_id
),

wide as (
    select
        corpus_id,
        max(amount) filter (where thing = 'dialogue') as dialogue_count,
        max(amount) filter (where thing = 'record') as record_count,
        max(amount) filter (where thing = 'turn') as turn_count,
        max(amount) filter (where thing = 'speaker') as speaker_count,
        max(amount) filter (where thing = 'label') as label_count,
        max(amount) filter (where thing = 'default label') as default_label_count,
        max(amount) filter (where thing = 'annotation') as annotation_count,
        max(amount) filter (where thing = 'default annotation') as default_annotation_count,
        max(amount) filter (where thing = 'candidate') as candidate_count,
        max(amount) filter (where thing = 'persona') as persona_count,
        max(amount) filter (where thing = 'example') as example_count,
        max(amount) filter (where thing = 'default example') as default_example_count,
        max(amount) filter (where thing = 'file') as file_count,
        max(amount) filter (where thing = 'quarantined') as quarantined_count,
        max(amount) filter (where thing = 'finding') as finding_count,
    from counts
    group by corpus_id
)

select
    corpora.corpus_id,
    corpora.title,
    corpora.description,
    corpora.homepage,
    corpora.licence,
    corpora.licence_url,
    corpora.terms,
    corpora.citation,
    corpora.year,
    corpora.languages,
    coalesce(wide.dialogue_count, 0) as dialogue_count,
    coalesce(wide.record_count, 0) as record_count,
    coalesce(wide.turn_count, 0) as turn_count,
    coalesce(wide.speaker_count, 0) as speaker_count,
    coalesce(wide.label_count, 0) as label_count,
    coalesce(wide.default_label_count, 0) as default_label_count,
    coalesce(wide.annotation_count, 0) as annotation_count,
    coalesce(wide.default_annotation_count, 0) as default_annotation_count,
    coalesce(wide.candidate_count, 0) as candidate_count,
    coalesce(wide.persona_count, 0) as persona_count,
    coalesce(wide.example_count, 0) as example_count,
    coalesce(wide.default_example_count, 0) as default_example_count,
    coalesce(wide.file_count, 0) as file_count,
    coalesce(wide.quarantined_count, 0) as quarantined_count,
    coalesce(wide.finding_count, 0) as finding_count,
    corpora.is_sample,
    corpora.made_from,
    (select max(finished_at) from meta.loads) as built_at,
from main.corpora
left join wide on wide.corpus_id = corpora.corpus_id
