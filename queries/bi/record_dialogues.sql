-- Each publication of a dialogue: the dialogue with its length, once for each file or folder of a publisher's release and split that has it.
-- grain: record_id
-- scope: dialogue
--   corpus_id: Corpus of the dialogue.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True in the default publication of the dialogue: filter by it to count a dialogue once that several of the publisher's releases have.
--   record_id: The record that publishes the dialogue; where several records of one subset are about it, the first. A file that occurs twice counts once; records without a split count only for a dialogue of which no record has one.
--   native_id: The publisher's id of the dialogue, verbatim; null where there is none.
--   is_first_in_split: True in one row of each dialogue within publisher's release and split: filter by it to count a dialogue once that several subsets of a split have.
--   started_at: When the dialogue began: its own published start, or else the earliest time of its turns; null where neither is published. Wall clock time, as main.dialogues has it.
--   hour_of_day: Hour of started_at, 0 to 23.
--   weekday: Day of the week of started_at: 1 for Monday to 7 for Sunday.
--   turn_count: Turns of every kind: messages, and seed utterances, submitted answers and what else the publisher has as a turn.
--   turn_count_bin: The least turn_count of its bin: 0 for 0 to 4, 5 for 5 to 9, 10 ...
--   speaker_count: Speakers of its turns of every kind: a system that opens the dialogue is one, too.
--   character_count: Characters of the messages: turns of the kind message.
--   word_count: Words of the messages: runs of characters that are not white space (spaces, tabs, line ends); says little where a language is written without spaces.
--   word_count_bin: The least word_count of its bin: 0 for 0 to 49, 50 for 50 to 99, 100 ...
--   label_count: Labels that the record publishes, one per annotator.
--   annotation_count: Annotations that it publishes: the labels, and what has none, such as a computed number.
with
talks as (
    select
        dialogues.corpus_id,
        turns.dialogue_id,
        count(*) as turn_count,
        count(distinct turns.speaker_id) as speaker_count,
        sum(length(turns.text)) filter (where turns.kind = 'message')::bigint as character_count,
        sum(bi.word_count(turns.text)) filter (where turns.kind = 'message')::bigint as word_count,
        min(turns.said_at) as first_said_at,
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

labelled as (
    select record_id, count(*) as annotation_count, count(label) as label_count
    from main.annotations
    group by record_id
)

select
    publications.corpus_id,
    publications.release,
    publications.split,
    publications.standard_split,
    publications.subset,
    publications.record_id,
    publications.dialogue_id,
    dialogues.native_id,
    dialogues.language,
    dialogues.domain,
    dialogues.title,
    coalesce(dialogues.started_at, talks.first_said_at) as started_at,
    hour(coalesce(dialogues.started_at, talks.first_said_at)) as hour_of_day,
    isodow(coalesce(dialogues.started_at, talks.first_said_at)) as weekday,
    publications.is_default,
    publications.is_first_in_split,
    coalesce(talks.turn_count, 0) as turn_count,
    coalesce(talks.turn_count, 0) // 5 * 5 as turn_count_bin,
    coalesce(together.speaker_count, talks.speaker_count, 0) as speaker_count,
    coalesce(talks.character_count, 0) as character_count,
    coalesce(talks.word_count, 0) as word_count,
    coalesce(talks.word_count, 0) // 50 * 50 as word_count_bin,
    coalesce(labelled.label_count, 0) as label_count,
    coalesce(labelled.annotation_count, 0) as annotation_count,
from bi.publications
inner join main.dialogues
    on dialogues.corpus_id = publications.corpus_id and dialogues.dialogue_id = publications.dialogue_id
left join talks
    on talks.corpus_id = publications.corpus_id and talks.dialogue_id = publications.dialogue_id
left join together on together.dialogue_id = publications.dialogue_id
left join labelled on labelled.record_id = publications.record_id
