-- Each published file or folder of a publisher's release and split with what is in it, whether or not a task uses it.
-- grain: corpus_id, release, is_default, split, subset
-- terms: none
--   corpus_id: Corpus of the records.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True for the default publications of dialogues, and for records of neither a dialogue nor a publisher's release: filter by it to count a dialogue once that several of the publisher's releases have. A folder with both kinds has two rows.
--   subset: The published file or folder.
--   record_count: Records; an input file that occurs twice counts once.
--   dialogue_count: Dialogues, each counted once; one may be in several subsets.
--   turn_count: Turns of these dialogues.
--   label_count: Labels that the records publish, one per annotator.
--   annotation_count: Annotations that they publish: the labels, and what has none, such as a computed number.
--   example_count: Examples of all tasks that are made from the records.
with
labelled as (
    select record_id, count(*) as annotation_count, count(label) as label_count
    from main.annotations
    group by record_id
),

used as (
    select record_id, count(*) as example_count
    from main.examples
    group by record_id
),

lengths as (
    select dialogue_id, count(*) as turn_count
    from main.turns
    group by dialogue_id
),

publications as (
    select
        records.corpus_id,
        records.release,
        -- Records in no publisher's release and no split say more of a dialogue; they are no publication of it.
        (records.release is null and records.split is null)
        or coalesce(default_releases.release = records.release, default_releases.release is null) as is_default,
        records.split,
        records.subset,
        records.dialogue_id,
        min(records.standard_split) as standard_split,
        count(*) as record_count,
        coalesce(sum(labelled.label_count), 0)::bigint as label_count,
        coalesce(sum(labelled.annotation_count), 0)::bigint as annotation_count,
        coalesce(sum(used.example_count), 0)::bigint as example_count,
    from main.records
    left join bi.default_releases on default_releases.dialogue_id = records.dialogue_id
    left join labelled on labelled.record_id = records.record_id
    left join used on used.record_id = records.record_id
    where records.extra ->> 'repeats' is null
    group by records.corpus_id, records.release, is_default, records.split, records.subset, records.dialogue_id
)

select
    publications.corpus_id,
    publications.release,
    publications.is_default,
    publications.split,
    min(publications.standard_split) as standard_split,
    publications.subset,
    sum(publications.record_count)::bigint as record_count,
    count(publications.dialogue_id) as dialogue_count,
    coalesce(sum(lengths.turn_count), 0)::bigint as turn_count,
    sum(publications.label_count)::bigint as label_count,
    sum(publications.annotation_count)::bigint as annotation_count,
    sum(publications.example_count)::bigint as example_count,
from publications
left join lengths on lengths.dialogue_id = publications.dialogue_id
group by
    publications.corpus_id,
    publications.release,
    publications.is_default,
    publications.split,
    publications.subset
