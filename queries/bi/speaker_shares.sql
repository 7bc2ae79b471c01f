-- Each speaker of each publication of a dialogue with how much of it the speaker says: turns of the kind message, so without seed utterances and submitted answers.
-- grain: record_id, speaker_id
--   corpus_id: Corpus of the dialogue.
--   release: Release, as its path names it; null where it has no name, as in a corpus with one release.
--   record_id: The record that publishes the dialogue, as in bi.record_dialogues.
--   is_first_in_split: True in one publication of each dialogue within release and split: filter by it to count a dialogue once that several subsets of a split have.
--   language: ISO 639-1 code of the dialogue.
--   speaker_name: Name or alias of the speaker.
--   speaker_kind: human, bot or system.
--   role: Role of the speaker: user, system, agent ...; where there are several, the first in the order of characters.
--   speaker_count: Speakers of the dialogue with a message.
--   turn_count: Messages of the speaker; who has none has no row.
--   word_count: Words of these turns, as bi.turns counts them; says little about Japanese.
--   character_count: Characters of these turns.
--   dialogue_turn_count: Messages of all speakers of the dialogue.
--   dialogue_word_count: Words of all speakers.
--   dialogue_character_count: Characters of all speakers.
--   turn_share: turn_count by dialogue_turn_count, 0 to 1.
--   word_share: word_count by dialogue_word_count, 0 to 1; null where nobody says a word.
--   word_percent_bin: The least word_share of its bin in hundredths: 0 for less than 0.1, 10 for less than 0.2 ... 100 for 1.
--   character_share: character_count by dialogue_character_count, 0 to 1; null where nobody says anything.
--   word_rank: 1 for who says the most words; equals share a rank.
--   is_dominant: True where the speaker says more than half of the words.
with
said as (
    select
        corpus_id,
        release,
        split,
        standard_split,
        subset,
        record_id,
        is_first_in_split,
        dialogue_id,
        language,
        domain,
        speaker_id,
        speaker_name,
        speaker_kind,
        min(role) as role,
        count(*) as turn_count,
        sum(word_count)::bigint as word_count,
        sum(character_count)::bigint as character_count,
    from bi.record_turns
    where speaker_id is not null and kind = 'message'
    group by all
),

compared as (
    select
        *,
        count(*) over talk as speaker_count,
        sum(turn_count) over talk::bigint as dialogue_turn_count,
        sum(word_count) over talk::bigint as dialogue_word_count,
        sum(character_count) over talk::bigint as dialogue_character_count,
        rank() over (partition by corpus_id, record_id order by word_count desc) as word_rank,
    from said
    window talk as (partition by corpus_id, record_id)
)

select
    corpus_id,
    release,
    split,
    standard_split,
    subset,
    record_id,
    is_first_in_split,
    dialogue_id,
    language,
    domain,
    speaker_id,
    speaker_name,
    speaker_kind,
    role,
    speaker_count,
    turn_count,
    word_count,
    character_count,
    dialogue_turn_count,
    dialogue_word_count,
    dialogue_character_count,
    turn_count / dialogue_turn_count as turn_share,
    word_count / nullif(dialogue_word_count, 0) as word_share,
    word_count * 10 // nullif(dialogue_word_count, 0) * 10 as word_percent_bin,
    character_count / nullif(dialogue_character_count, 0) as character_share,
    word_rank,
    word_count * 2 > dialogue_word_count as is_dominant,
from compared
