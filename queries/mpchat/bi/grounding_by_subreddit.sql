-- MPChat: how often the messages of main authors rest on a persona element, subreddit by subreddit.
-- grain: release, split, subreddit
-- terms: none
--   corpus_id: mpchat.
--   release: Null: the corpus was published once, and its publisher's release has no name.
--   split: Split, by the publisher's own name.
--   subreddit: Subreddit of the thread; null where the publisher names none.
--   dialogue_count: Threads.
--   response_count: Messages of their main authors.
--   grounded_count: Messages of these with a gold persona element.
--   grounding_rate: grounded_count by response_count, 0 to 1; null where there is no message.
with
responses as (
    select records.record_id, turns.turn_index
    from main.records
    inner join main.turns
        on turns.dialogue_id = records.dialogue_id and turns.speaker_id = records.main_speaker_id
    where records.corpus_id = 'mpchat' and records.subset = 'gpp' and records.extra ->> 'repeats' is null
),

counts as (
    select
        responses.record_id,
        count(*) as response_count,
        count(persona_uses.persona_id) as grounded_count,
    from responses
    left join main.persona_uses
        on persona_uses.record_id = responses.record_id
        and persona_uses.turn_index = responses.turn_index
        and persona_uses.persona_set = 'gpp_gold'
    group by responses.record_id
)

select
    records.corpus_id,
    records.release,
    records.split,
    records.standard_split,
    dialogues.domain as subreddit,
    count(*) as dialogue_count,
    coalesce(sum(counts.response_count), 0)::bigint as response_count,
    coalesce(sum(counts.grounded_count), 0)::bigint as grounded_count,
    sum(counts.grounded_count)::double / sum(counts.response_count) as grounding_rate,
from main.records
inner join main.dialogues on dialogues.dialogue_id = records.dialogue_id
left join counts on counts.record_id = records.record_id
where records.corpus_id = 'mpchat' and records.subset = 'gpp' and records.extra ->> 'repeats' is null
group by records.corpus_id, records.release, records.split, records.standard_split, dialogues.domain
