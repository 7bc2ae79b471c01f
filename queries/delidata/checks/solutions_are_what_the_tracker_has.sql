-- The cards of a submit, and of a message that proposes a solution, are those that the tracker then has for its origin.
-- severity: warn
-- rule: DE-07
with
proposed as (
    select
        records.record_id,
        turns.turn_index,
        speakers.name,
        string_split(nullif(turns.text, ''), ',') as cards,
    from main.records
    inner join main.turns on turns.dialogue_id = records.dialogue_id
    inner join main.speakers on speakers.speaker_id = turns.speaker_id
    where records.corpus_id = 'delidata' and turns.kind = 'submit'
    union all
    select
        annotations.record_id,
        annotations.turn_index,
        min(speakers.name) as name,
        list(annotations.label) as cards,
    from main.annotations
    inner join main.turns
        on turns.dialogue_id = annotations.dialogue_id and turns.turn_index = annotations.turn_index
    inner join main.speakers on speakers.speaker_id = turns.speaker_id
    where annotations.scheme = 'delidata.solution' and turns.kind = 'message'
    group by annotations.record_id, annotations.turn_index
),

tracked as (
    select
        record_id,
        turn_index,
        annotator_id,
        list(label) filter (where label is not null) as cards,
    from main.annotations
    where scheme = 'delidata.tracker'
    group by record_id, turn_index, annotator_id
),

compared as (
    select
        proposed.record_id,
        proposed.turn_index,
        proposed.name,
        list_sort(list_distinct(coalesce(proposed.cards, []))) as proposed_cards,
        list_sort(list_distinct(coalesce(tracked.cards, []))) as tracked_cards,
    from proposed
    semi join tracked as known on known.record_id = proposed.record_id and known.turn_index = proposed.turn_index
    left join tracked
        on tracked.record_id = proposed.record_id
        and tracked.turn_index = proposed.turn_index
        and tracked.annotator_id = proposed.name
)

select
    record_id,
    turn_index,
    'the cards are ' || array_to_string(proposed_cards, ',') || ', the tracker has for ' || name || ': '
        || array_to_string(tracked_cards, ',') as detail,
from compared
where proposed_cards <> tracked_cards
order by record_id, turn_index
