-- Each speaker of each publication of a dialogue, with its times: who comes for the first time, and who comes again.
-- grain: record_id, speaker_id
-- identifying: known_speaker_name = name
--   corpus_id: Corpus of the dialogue.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True in the default publication of the dialogue: filter by it to count a dialogue once that several of the publisher's releases have.
--   record_id: The record that publishes the dialogue, as in bi.record_dialogues.
--   is_first_in_split: True in one publication of each dialogue within publisher's release and split: filter by it to count a dialogue once that several subsets of a split have.
--   language: ISO 639-1 code of the dialogue.
--   known_speaker_name: Name of the speaker, or else the publisher's id, where it is the same person in every dialogue: group by this. Null where the publisher does not identify the person.
--   speaker_kind: human, bot or system.
--   role: Role of the speaker: user, system, agent ...; where there are several, the first in the order of characters.
--   started_at: When the dialogue began: its own published start, or else the earliest time of the turns of its speakers.
--   hour_of_day: Hour of started_at, 0 to 23.
--   weekday: Day of the week of started_at: 1 for Monday to 7 for Sunday.
--   new_or_returning: new in the week, Monday to Sunday, of the speaker's first dialogue in the corpus; returning in later ones. Null without a time, and where the publisher does not identify the person.
--   turn_count: Turns of the speaker in the dialogue, of every kind; what several say together counts for each.
with
said as (
    select
        dialogues.corpus_id,
        turns.dialogue_id,
        coalesce(turn_speakers.speaker_id, turns.speaker_id) as speaker_id,
        min(turns.role) as role,
        count(*) as turn_count,
        coalesce(
            min(dialogues.started_at),
            min(min(turns.said_at)) over (partition by dialogues.corpus_id, turns.dialogue_id)
        ) as started_at,
    from main.turns
    inner join main.dialogues on dialogues.dialogue_id = turns.dialogue_id
    left join main.turn_speakers
        on turn_speakers.dialogue_id = turns.dialogue_id and turn_speakers.turn_index = turns.turn_index
    where coalesce(turn_speakers.speaker_id, turns.speaker_id) is not null
    group by dialogues.corpus_id, turns.dialogue_id, coalesce(turn_speakers.speaker_id, turns.speaker_id)
),

dated as (
    select *, min(started_at) over (partition by speaker_id) as first_started_at
    from said
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
    dated.speaker_id,
    case when not speakers.is_anonymous then coalesce(speakers.name, speakers.native_id) end as known_speaker_name,
    speakers.kind as speaker_kind,
    dated.role,
    dated.started_at,
    hour(dated.started_at) as hour_of_day,
    isodow(dated.started_at) as weekday,
    case
        when speakers.is_anonymous or dated.started_at is null then null
        when date_trunc('week', dated.started_at) = date_trunc('week', dated.first_started_at) then 'new'
        else 'returning'
    end as new_or_returning,
    dated.turn_count,
from bi.publications
inner join main.dialogues
    on dialogues.corpus_id = publications.corpus_id and dialogues.dialogue_id = publications.dialogue_id
inner join dated
    on dated.corpus_id = publications.corpus_id and dated.dialogue_id = publications.dialogue_id
inner join main.speakers on speakers.speaker_id = dated.speaker_id
