-- Each turn with who said it, its length, its place in the dialogue, and the turn before it in that order, also where it answers another (bi.replies), once however often it was published; by publisher's release and split: bi.record_turns.
-- grain: dialogue_id, turn_index
-- scope: dialogue
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
-- Windows and groups of which no column is asked for are left out by DuckDB; joins are not, unless groups prove a key.
with
placed as (
    select
        *,
        lag(role) over (partition by dialogue_id order by turn_index) as previous_role,
        lag(text) over (partition by dialogue_id order by turn_index) as previous_text,
        lag(said_at) over (partition by dialogue_id order by turn_index) as previous_said_at,
        lag(end_ms) over (partition by dialogue_id order by turn_index) as previous_end_ms,
        count(*) over (partition by dialogue_id) as turn_count,
    from main.turns
),

dialogues as (
    select dialogue_id, min(corpus_id) as corpus_id, min(language) as language, min(domain) as domain
    from main.dialogues
    group by dialogue_id
),

speakers as (
    select speaker_id, min(name) as name, min(kind) as kind, bool_or(is_anonymous) as is_anonymous
    from main.speakers
    group by speaker_id
)

select
    dialogues.corpus_id,
    placed.dialogue_id,
    placed.turn_index,
    dialogues.language,
    dialogues.domain,
    placed.speaker_id,
    speakers.name as speaker_name,
    case when not speakers.is_anonymous then speakers.name end as known_speaker_name,
    speakers.kind as speaker_kind,
    placed.role,
    placed.kind,
    placed.text,
    placed.previous_role,
    placed.previous_text,
    bi.gap_seconds(placed.previous_said_at, placed.previous_end_ms, placed.said_at, placed.start_ms) as gap_seconds,
    length(placed.text) as character_count,
    bi.word_count(placed.text) as word_count,
    placed.turn_count - 1 - placed.turn_index as turns_after,
    placed.said_at,
    placed.reply_to,
    placed.start_ms,
    placed.end_ms,
from placed
left join dialogues on dialogues.dialogue_id = placed.dialogue_id
left join speakers on speakers.speaker_id = placed.speaker_id
