-- MPChat: how often the same candidates are offered, list by list and split by split.
-- grain: release, split, candidate_set
-- terms: none
--   corpus_id: mpchat.
--   release: Null: the corpus was published once, and its publisher's release has no name.
--   split: Split, by the publisher's own name.
--   candidate_set: nrp_response (texts), gpp_persona or si_author (persona elements).
--   list_count: Candidate lists.
--   item_count: Items of these lists; of si_author the elements of all authors.
--   distinct_count: Different texts or persona elements among the items; can't be added up over splits, which may share some.
--   mean_uses: item_count by distinct_count: how often one of these is offered.
--   max_uses: How often the one is offered that is offered most.
--   gold_elsewhere_count: Different ones that are right in one list and wrong in another of the split.
with
-- An element that came with another score has an id of its own, and is no other candidate.
alike as (
    select
        persona_id,
        min(persona_id) over (partition by text, image_file) as first_persona_id,
    from main.personas
    where corpus_id = 'mpchat'
),

uses as (
    select
        records.corpus_id,
        records.release,
        records.split,
        records.standard_split,
        candidates.candidate_set,
        coalesce(candidates.text_id, alike.first_persona_id) as candidate,
        count(*) as use_count,
        coalesce(bool_or(candidates.is_gold) and not bool_and(candidates.is_gold), false) as is_gold_elsewhere,
    from main.candidates
    inner join main.records on records.record_id = candidates.record_id
    left join alike on alike.persona_id = candidates.persona_id
    where records.corpus_id = 'mpchat' and records.extra ->> 'repeats' is null
    group by records.corpus_id, records.release, records.split, records.standard_split, candidates.candidate_set, candidate
),

lists as (
    select
        release,
        split,
        candidate_set,
        count(*) as list_count,
    from (
        select distinct records.release, records.split, candidates.candidate_set, candidates.record_id, candidates.turn_index
        from main.candidates
        inner join main.records on records.record_id = candidates.record_id
        where records.corpus_id = 'mpchat' and records.extra ->> 'repeats' is null
    )
    group by release, split, candidate_set
)

select
    uses.corpus_id,
    uses.release,
    uses.split,
    uses.standard_split,
    uses.candidate_set,
    lists.list_count,
    sum(uses.use_count)::bigint as item_count,
    count(*) as distinct_count,
    avg(uses.use_count) as mean_uses,
    max(uses.use_count) as max_uses,
    count_if(uses.is_gold_elsewhere)::bigint as gold_elsewhere_count,
from uses
inner join lists
    on lists.release is not distinct from uses.release
    and lists.split is not distinct from uses.split
    and lists.candidate_set = uses.candidate_set
group by
    uses.corpus_id,
    uses.release,
    uses.split,
    uses.standard_split,
    uses.candidate_set,
    lists.list_count
