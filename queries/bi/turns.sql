-- Each turn with who said it, its length, its place in the dialogue, and the turn before it in that order, also where it answers another (bi.replies), once however often it was published; by publisher's release and split: bi.record_turns.
-- grain: dialogue_id, turn_index
-- identifying: known_speaker_name = name
--   corpus_id: Corpus of the dialogue.
--   turn_index: 0-based position in the published order.
--   language: ISO 639-1 code of the dialogue.
--   speaker_name: Name or alias of who said it.
--   known_speaker_name: Name of who said it, where it is the same in every dialogue: group by this. Null where there is no name, or an alias that may be that of others elsewhere.
--   speaker_kind: human, bot or system.
--   previous_role: Role of who said the turn before; null for the first.
--   previous_text: What the turn before says, verbatim; null for the first.
--   gap_seconds: Seconds from the turn before to this one: from said_at to said_at or, in speech, from its end to this start, so that talk at the same time is less than 0; null where the times are not published.
--   character_count: Characters of the text.
--   word_count: Runs of characters that are not white space (spaces, tabs, line ends); says little where a language is written without spaces.
--   turns_after: How many turns follow in the dialogue; 0 for the last.
with
lengths as (
    select dialogue_id, count(*) as turn_count
    from main.turns
    group by dialogue_id
)

select
    dialogues.corpus_id,
    turns.dialogue_id,
    turns.turn_index,
    dialogues.language,
    dialogues.domain,
    turns.speaker_id,
    speakers.name as speaker_name,
    case when not speakers.is_anonymous then speakers.name end as known_speaker_name,
    speakers.kind as speaker_kind,
    turns.role,
    turns.kind,
    turns.text,
    previous.role as previous_role,
    previous.text as previous_text,
    bi.gap_seconds(previous.said_at, previous.end_ms, turns.said_at, turns.start_ms) as gap_seconds,
    length(turns.text) as character_count,
    bi.word_count(turns.text) as word_count,
    lengths.turn_count - 1 - turns.turn_index as turns_after,
    turns.said_at,
    turns.reply_to,
    turns.start_ms,
    turns.end_ms,
from main.turns
inner join main.dialogues on dialogues.dialogue_id = turns.dialogue_id
inner join lengths on lengths.dialogue_id = turns.dialogue_id
left join main.speakers on speakers.speaker_id = turns.speaker_id
left join main.turns as previous
    on previous.dialogue_id = turns.dialogue_id and previous.turn_index = turns.turn_index - 1
