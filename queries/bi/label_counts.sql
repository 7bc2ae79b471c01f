-- Each label of each labelled turn (or dialogue, record, persona) with the number of annotators who gave it.
-- grain: record_id, turn_index, persona_set, persona_position, scheme, label
--   corpus_id: Corpus of the scheme.
--   release: Release, as its path names it; null where it has no name, as in a corpus with one release.
--   scheme: Annotation scheme; left out are those in which one annotator gives several labels to one thing, which belong together and are not votes.
--   record_id: The record that published the labels; an input file that occurs twice counts once.
--   turn_index: The labelled turn; null: the whole dialogue, record or persona.
--   label: The label, verbatim; the number as text where a scheme has only numbers.
--   vote_count: Annotators who gave this label.
--   annotator_count: Annotators who labelled the turn in this scheme.
--   vote_share: vote_count by annotator_count, 0 to 1.
with
-- A scheme in which one annotator gives several labels to one thing has no votes to count: its labels go
-- together, and comparing them one by one would mistake a partial agreement for a disagreement.
several_at_once as (
    select distinct scheme
    from main.annotations
    where item_index > 0
),

votes as (
    select
        record_id,
        dialogue_id,
        turn_index,
        persona_set,
        persona_position,
        persona_id,
        scheme,
        coalesce(label, value::varchar) as label,
        count(*) as vote_count,
    from main.annotations
    where coalesce(label, value::varchar) is not null
        and scheme not in (select scheme from several_at_once)
    group by
        record_id,
        dialogue_id,
        turn_index,
        persona_set,
        persona_position,
        persona_id,
        scheme,
        coalesce(label, value::varchar)
)

select
    records.corpus_id,
    votes.record_id,
    votes.dialogue_id,
    votes.turn_index,
    votes.persona_set,
    votes.persona_position,
    votes.persona_id,
    votes.scheme,
    records.release,
    records.split,
    records.standard_split,
    records.subset,
    votes.label,
    votes.vote_count,
    sum(votes.vote_count) over labelled::bigint as annotator_count,
    votes.vote_count / sum(votes.vote_count) over labelled::double as vote_share,
from votes
inner join main.records on records.record_id = votes.record_id
where records.extra ->> 'repeats' is null
window labelled as (
    partition by
        votes.record_id,
        votes.dialogue_id,
        votes.turn_index,
        votes.persona_set,
        votes.persona_position,
        votes.scheme
)
