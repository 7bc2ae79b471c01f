-- Each dialogue with its length and its speakers, once however often it was published; by publisher's release and split: bi.record_dialogues.
-- grain: dialogue_id
-- scope: dialogue
--   corpus_id: Corpus of the dialogue.
--   native_id: The publisher's id of the dialogue, verbatim; null where there is none.
--   turn_count: Turns of every kind: messages, and seed utterances, submitted answers and what else the publisher has as a turn.
--   speaker_count: Speakers of its turns of every kind: a system that opens the dialogue is one, too.
--   character_count: Characters of the messages: turns of the kind message.
--   word_count: Words of the messages: runs of characters that are not white space (spaces, tabs, line ends); says little where a language is written without spaces.
--   first_said_at: Earliest time of a turn, by said_at of the turns.
--   last_said_at: Latest time of a turn, by said_at of the turns.
--   record_count: Records that publish it or belong to it, a file that occurs twice counted once; bi.record_dialogues has a row for each publication.
--   example_count: Examples of all tasks that are made from it.
with
talks as (
    -- By corpus too, so that a filter on the corpus spares counting the words of the others.
    select
        dialogues.corpus_id,
        turns.dialogue_id,
        count(*) as turn_count,
        count(distinct turns.speaker_id) as speaker_count,
        sum(length(turns.text)) filter (where turns.kind = 'message')::bigint as character_count,
        sum(bi.word_count(turns.text)) filter (where turns.kind = 'message')::bigint as word_count,
        min(turns.said_at) as first_said_at,
        max(turns.said_at) as last_said_at,
    from main.turns
    inner join main.dialogues on dialogues.dialogue_id = turns.dialogue_id
    group by dialogues.corpus_id, turns.dialogue_id
),

-- Dialogues in which some turn is said by several together; of all others, the turns tell.
together as (
    select dialogue_id, count(distinct speaker_id) as speaker_count
    from (
        select dialogue_id, speaker_id
        from main.turn_speakers
        union all
        select dialogue_id, speaker_id
        from main.turns
        where dialogue_id in (select dialogue_id from main.turn_speakers) and speaker_id is not null
    ) as said_by
    group by dialogue_id
),

places as (
    select dialogue_id, count(*) as record_count
    from main.records
    where extra ->> 'repeats' is null
    group by dialogue_id
),

used as (
    select dialogue_id, count(*) as example_count
    from main.examples
    group by dialogue_id
)

select
    dialogues.corpus_id,
    dialogues.dialogue_id,
    dialogues.native_id,
    dialogues.language,
    dialogues.domain,
    dialogues.title,
    coalesce(talks.turn_count, 0) as turn_count,
    coalesce(together.speaker_count, talks.speaker_count, 0) as speaker_count,
    coalesce(talks.character_count, 0) as character_count,
    coalesce(talks.word_count, 0) as word_count,
    coalesce(places.record_count, 0) as record_count,
    coalesce(used.example_count, 0) as example_count,
    dialogues.started_at,
    talks.first_said_at,
    talks.last_said_at,
    dialogues.derived_from,
from main.dialogues
left join talks
    on talks.corpus_id = dialogues.corpus_id and talks.dialogue_id = dialogues.dialogue_id
left join together on together.dialogue_id = dialogues.dialogue_id
left join places on places.dialogue_id = dialogues.dialogue_id
left join used on used.dialogue_id = dialogues.dialogue_id
