-- The tracker has everybody whom the INITIAL row names, but for SYSTEM.
-- severity: warn
-- rule: DE-06
with
tracked as (
    select
        record_id,
        dialogue_id,
        turn_index,
        list(annotator_id) as users,
    from main.annotations
    where scheme = 'delidata.tracker'
    group by record_id, dialogue_id, turn_index
),

named as (
    select
        participants.dialogue_id,
        list(speakers.name order by speakers.name) as users,
    from main.participants
    inner join main.speakers on speakers.speaker_id = participants.speaker_id
    where starts_with(participants.dialogue_id, 'delidata:') and speakers.kind <> 'system'
    group by participants.dialogue_id
)

select
    tracked.record_id,
    tracked.turn_index,
    'the tracker lacks '
        || array_to_string(list_filter(named.users, lambda name: not list_contains(tracked.users, name)), ', ')
        as detail,
from tracked
inner join named on named.dialogue_id = tracked.dialogue_id
where not list_has_all(tracked.users, named.users)
order by tracked.record_id, tracked.turn_index
