-- Each speaker of each publication of a dialogue with how much of it the speaker says: turns of the kind message, so without seed utterances and submitted answers; what several say together counts for each.
-- grain: record_id, speaker_id
-- scope: dialogue
-- identifying: known_speaker_name = name
--   corpus_id: Corpus of the dialogue.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True in the default publication of the dialogue: filter by it to count a dialogue once that several of the publisher's releases have.
--   record_id: The record that publishes the dialogue, as in bi.record_dialogues.
--   is_first_in_split: True in one publication of each dialogue within publisher's release and split: filter by it to count a dialogue once that several subsets of a split have.
--   language: ISO 639-1 code of the dialogue.
--   speaker_name: Name or alias of the speaker.
--   known_speaker_name: Name of who said it, where it is the same in every dialogue: group by this. Null where there is no name, or an alias that may be that of others elsewhere.
--   speaker_kind: human, bot or system.
--   role: Role of the speaker: user, system, agent ...; where there are several, the first in the order of characters.
--   speaker_count: Speakers of the dialogue with a message.
--   turn_count: Messages of the speaker; who has none has no row.
--   word_count: Words of these turns, as bi.turns counts them; says little where a language is written without spaces.
--   character_count: Characters of these turns.
--   dialogue_turn_count: Messages of all speakers of the dialogue.
--   dialogue_word_count: Words of all speakers.
--   dialogue_character_count: Characters of all speakers.
--   turn_share: turn_count by dialogue_turn_count, 0 to 1.
--   word_share: word_count by dialogue_word_count, 0 to 1; null where nobody says a word.
--   word_percent_bin: The least word_share of its bin in hundredths: 0 for less than 0.1, 10 for less than 0.2 ... 100 for 1.
--   character_share: character_count by dialogue_character_count, 0 to 1; null where nobody says anything.
--   word_rank: 1 for who says the most words; equals share a rank.
--   has_spaces: True where the language puts spaces between words, or is not known: filter by it to count words.
--   is_dominant: True where the speaker says more than half of the words.
with
said as (
    -- Once for a dialogue, however often it was published: to count words takes longest.
    select
        dialogues.corpus_id,
        turns.dialogue_id,
        coalesce(turn_speakers.speaker_id, turns.speaker_id) as speaker_id,
        min(turns.role) as role,
        count(*) as turn_count,
        sum(bi.word_count(turns.text))::bigint as word_count,
        sum(length(turns.text))::bigint as character_count,
    from main.turns
    inner join main.dialogues on dialogues.dialogue_id = turns.dialogue_id
    left join main.turn_speakers
        on turn_speakers.dialogue_id = turns.dialogue_id and turn_speakers.turn_index = turns.turn_index
    where coalesce(turn_speakers.speaker_id, turns.speaker_id) is not null and turns.kind = 'message'
    group by dialogues.corpus_id, turns.dialogue_id, coalesce(turn_speakers.speaker_id, turns.speaker_id)
),

compared as (
    select
        *,
        count(*) over talk as speaker_count,
        sum(turn_count) over talk::bigint as dialogue_turn_count,
        sum(word_count) over talk::bigint as dialogue_word_count,
        sum(character_count) over talk::bigint as dialogue_character_count,
        rank() over (partition by corpus_id, dialogue_id order by word_count desc) as word_rank,
    from said
    window talk as (partition by corpus_id, dialogue_id)
)

select
    publications.corpus_id,
    publications.release,
    publications.split,
    publications.standard_split,
    publications.subset,
    publications.record_id,
    publications.is_default,
    publications.is_first_in_split,
    publications.dialogue_id,
    dialogues.language,
    dialogues.domain,
    compared.speaker_id,
    speakers.name as speaker_name,
    case when not speakers.is_anonymous then speakers.name end as known_speaker_name,
    speakers.kind as speaker_kind,
    compared.role,
    compared.speaker_count,
    compared.turn_count,
    compared.word_count,
    compared.character_count,
    compared.dialogue_turn_count,
    compared.dialogue_word_count,
    compared.dialogue_character_count,
    compared.turn_count / compared.dialogue_turn_count as turn_share,
    compared.word_count / nullif(compared.dialogue_word_count, 0) as word_share,
    compared.word_count * 10 // nullif(compared.dialogue_word_count, 0) * 10 as word_percent_bin,
    compared.character_count / nullif(compared.dialogue_character_count, 0) as character_share,
    compared.word_rank,
    compared.word_count * 2 > compared.dialogue_word_count as is_dominant,
    bi.has_spaces(dialogues.language) as has_spaces,
from bi.publications
inner join main.dialogues
    on dialogues.corpus_id = publications.corpus_id and dialogues.dialogue_id = publications.dialogue_id
inner join compared
    on compared.corpus_id = publications.corpus_id and compared.dialogue_id = publications.dialogue_id
left join main.speakers on speakers.speaker_id = compared.speaker_id
