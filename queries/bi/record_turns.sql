-- Each turn of each publication of a dialogue: the dialogue's turns, once for each file or folder of a publisher's release and split that has it.
-- grain: record_id, turn_index
-- scope: dialogue
-- identifying: known_speaker_name = name
--   corpus_id: Corpus of the dialogue.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True in the default publication of the dialogue: filter by it to count a turn once that several of the publisher's releases have.
--   record_id: The record that publishes the dialogue, as in bi.record_dialogues.
--   is_first_in_split: True in one publication of each dialogue within publisher's release and split: filter by it to count a turn once that several subsets of a split have.
--   turn_index: 0-based position in the published order.
--   language: ISO 639-1 code of the dialogue.
--   speaker_name: Name or alias of who said it.
--   known_speaker_name: Name of who said it, where it is the same in every dialogue: group by this. Null where there is no name, or an alias that may be that of others elsewhere.
--   speaker_kind: human, bot or system.
--   hour_of_day: Hour of said_at, 0 to 23.
--   weekday: Day of the week of said_at: 1 for Monday to 7 for Sunday.
--   character_count: Characters of the text.
--   word_count: Runs of characters that are not white space (spaces, tabs, line ends); says little where a language is written without spaces.
--   has_spaces: True where the language puts spaces between words, or is not known: filter by it to count words.
--   word_count_bin: The least word_count of its bin: 0 for 0 to 9, 10 for 10 to 19, 20 ...
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
    turns.turn_index,
    dialogues.language,
    dialogues.domain,
    turns.speaker_id,
    turns.speaker_name,
    turns.known_speaker_name,
    turns.speaker_kind,
    turns.role,
    turns.kind,
    turns.text,
    length(turns.text) as character_count,
    turns.word_count,
    turns.word_count // 10 * 10 as word_count_bin,
    turns.said_at,
    hour(turns.said_at) as hour_of_day,
    isodow(turns.said_at) as weekday,
    bi.has_spaces(dialogues.language) as has_spaces,
from bi.publications
inner join main.dialogues
    on dialogues.corpus_id = publications.corpus_id and dialogues.dialogue_id = publications.dialogue_id
-- Before the join to publications: a turn is there as often as it was published.
inner join (
    select
        original.*,
        speakers.name as speaker_name,
        case when not speakers.is_anonymous then speakers.name end as known_speaker_name,
        speakers.kind as speaker_kind,
        bi.word_count(original.text) as word_count,
    from main.turns as original
    left join main.speakers on speakers.speaker_id = original.speaker_id
) as turns on turns.dialogue_id = publications.dialogue_id
