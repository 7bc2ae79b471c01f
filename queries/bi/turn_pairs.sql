-- Each turn with the one before it and the one after it in their order, also where it answers another (bi.replies), and the time between, once however often it was published; with labels: bi.labelled_turns.
-- grain: dialogue_id, turn_index
-- scope: dialogue
-- identifying: known_speaker_name = name; previous_speaker_name = name; next_speaker_name = name
--   corpus_id: Corpus of the dialogue.
--   turn_index: 0-based position in the published order.
--   language: ISO 639-1 code of the dialogue.
--   speaker_name: Name or alias of who said it.
--   known_speaker_name: Name of who said it, where it is the same in every dialogue: group by this. Null where there is no name, or an alias that may be that of others elsewhere.
--   speaker_kind: human, bot or system.
--   word_count: Words of the turn, as bi.turns counts them; says little where a language is written without spaces.
--   gap_seconds: Seconds from the turn before to this one: from said_at to said_at or, in speech, from its end to this start, so that talk at the same time is less than 0; null where the times are not published.
--   is_same_speaker: True where who said the turn before says this one too; null where one of them is not known.
--   previous_speaker_name: Name or alias of who said the turn before; null for the first.
--   previous_role: Role of who said the turn before.
--   previous_kind: Kind of the turn before: message, seed, initial, submit ...
--   previous_text: What the turn before says, verbatim.
--   previous_word_count: Words of the turn before.
--   next_speaker_name: Name or alias of who says the turn after; null for the last.
--   next_role: Role of who says the turn after.
--   next_kind: Kind of the turn after.
--   next_text: What the turn after says, verbatim.
--   next_word_count: Words of the turn after.
--   next_gap_seconds: gap_seconds of the turn after.
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
    bi.word_count(turns.text) as word_count,
    turns.said_at,
    bi.gap_seconds(previous.said_at, previous.end_ms, turns.said_at, turns.start_ms) as gap_seconds,
    turns.speaker_id = previous.speaker_id as is_same_speaker,
    previous_speakers.name as previous_speaker_name,
    previous.role as previous_role,
    previous.kind as previous_kind,
    previous.text as previous_text,
    -- The macro says 0 of no text.
    case when previous.text is not null then bi.word_count(previous.text) end as previous_word_count,
    next_speakers.name as next_speaker_name,
    following.role as next_role,
    following.kind as next_kind,
    following.text as next_text,
    case when following.text is not null then bi.word_count(following.text) end as next_word_count,
    bi.gap_seconds(turns.said_at, turns.end_ms, following.said_at, following.start_ms) as next_gap_seconds,
from main.turns
inner join main.dialogues on dialogues.dialogue_id = turns.dialogue_id
left join main.turns as previous
    on previous.dialogue_id = turns.dialogue_id and previous.turn_index = turns.turn_index - 1
left join main.turns as following
    on following.dialogue_id = turns.dialogue_id and following.turn_index = turns.turn_index + 1
left join main.speakers on speakers.speaker_id = turns.speaker_id
left join main.speakers as previous_speakers on previous_speakers.speaker_id = previous.speaker_id
left join main.speakers as next_speakers on next_speakers.speaker_id = following.speaker_id
