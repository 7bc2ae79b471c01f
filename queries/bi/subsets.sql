-- Each published file or folder of a release and split with what is in it, whether or not a task uses it.
-- grain: corpus_id, release, split, subset
-- terms: none
--   corpus_id: Corpus of the records.
--   release: Release, as its path names it; null where it has no name, as in a corpus with one release.
--   subset: The published file or folder.
--   record_count: Records; an input file that occurs twice counts once.
--   dialogue_count: Dialogues, each counted once; one may be in several subsets.
--   turn_count: Turns of these dialogues.
--   annotation_count: Labels that the records publish, one per annotator.
--   example_count: Examples of all tasks that are made from the records.
with
labelled as (
    select record_id, count(*) as annotation_count
    from main.annotations
    group by record_id
),

used as (
    select record_id, count(*) as example_count
    from main.examples
    group by record_id
),

sizes as (
    select
        records.corpus_id,
        records.release,
        records.split,
        records.subset,
        min(records.standard_split) as standard_split,
        count(*) as record_count,
        coalesce(sum(labelled.annotation_count), 0)::bigint as annotation_count,
        coalesce(sum(used.example_count), 0)::bigint as example_count,
    from main.records
    left join labelled on labelled.record_id = records.record_id
    left join used on used.record_id = records.record_id
    where records.extra ->> 'repeats' is null
    group by records.corpus_id, records.release, records.split, records.subset
),

subset_dialogues as (
    select distinct corpus_id, release, split, subset, dialogue_id
    from main.records
    where dialogue_id is not null and extra ->> 'repeats' is null
),

lengths as (
    select dialogue_id, count(*) as turn_count
    from main.turns
    group by dialogue_id
),

dialogue_sizes as (
    select
        subset_dialogues.corpus_id,
        subset_dialogues.release,
        subset_dialogues.split,
        subset_dialogues.subset,
        count(*) as dialogue_count,
        sum(lengths.turn_count)::bigint as turn_count,
    from subset_dialogues
    left join lengths on lengths.dialogue_id = subset_dialogues.dialogue_id
    group by subset_dialogues.corpus_id, subset_dialogues.release, subset_dialogues.split, subset_dialogues.subset
)

select
    sizes.corpus_id,
    sizes.release,
    sizes.split,
    sizes.standard_split,
    sizes.subset,
    sizes.record_count,
    coalesce(dialogue_sizes.dialogue_count, 0) as dialogue_count,
    coalesce(dialogue_sizes.turn_count, 0) as turn_count,
    sizes.annotation_count,
    sizes.example_count,
from sizes
left join dialogue_sizes
    on dialogue_sizes.corpus_id = sizes.corpus_id
    and dialogue_sizes.release is not distinct from sizes.release
    and dialogue_sizes.split is not distinct from sizes.split
    and dialogue_sizes.subset is not distinct from sizes.subset
