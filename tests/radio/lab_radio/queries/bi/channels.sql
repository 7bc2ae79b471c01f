-- Channels: how many calls each has.
-- grain: channel
--   channel: The number of the channel.
--   call_count: Calls.
select dialogues.extra ->> '$.channel' as channel, count(*) as call_count
from main.dialogues
inner join main.turns on turns.dialogue_id = dialogues.dialogue_id
where dialogues.corpus_id = 'radio_calls'
group by dialogues.extra ->> '$.channel'
