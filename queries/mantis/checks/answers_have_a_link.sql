-- In every dialogue an utterance of the agent has a link, as the publisher's third condition says.
-- severity: warn
-- rule: MA-04
with
linked as (
    select
        dialogue_id,
        bool_or(contains(lower(text), 'href=') or contains(lower(text), '://')) as has_link,
    from main.turns
    where role = 'agent' and starts_with(dialogue_id, 'mantis:')
    group by dialogue_id
)

select
    arg_min(conversations.record_id, conversations.record_index) as record_id,
    conversations.split,
    count(*) || ' dialogues of ' || conversations.split || ' have no link in what the agent says; the first is '
        || arg_min(conversations.native_id, conversations.record_index) as detail,
from mantis.conversations
left join linked on linked.dialogue_id = conversations.dialogue_id
where not coalesce(linked.has_link, false)
group by conversations.split
