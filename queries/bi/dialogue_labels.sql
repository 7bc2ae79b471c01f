-- Each label of a whole dialogue, by each publication of the dialogue, with the time of the dialogue; a label that several annotators give is one row.
-- grain: record_id, scheme, label
-- scope: dialogue
--   corpus_id: Corpus of the dialogue.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True in the default publication of the dialogue: filter by it to count a dialogue once that several of the publisher's releases have.
--   record_id: The record that publishes the dialogue, as in bi.record_dialogues.
--   is_first_in_split: True in one publication of each dialogue within publisher's release and split: filter by it to count a dialogue once that several subsets of a split have.
--   language: ISO 639-1 code of the dialogue.
--   started_at: When the dialogue began, as in bi.record_dialogues.
--   hour_of_day: Hour of started_at, 0 to 23.
--   weekday: Day of the week of started_at: 1 for Monday to 7 for Sunday.
--   scheme: Annotation scheme.
--   label: The label, verbatim; the number as text where a scheme has only numbers.
--   vote_count: Annotators who gave this label.
with
labelled as (
    select
        record_id,
        scheme,
        coalesce(label, value::varchar) as label,
        count(*) as vote_count,
    from main.annotations
    where turn_index is null
        and persona_set is null
        and persona_id is null
        and coalesce(label, value::varchar) is not null
    group by record_id, scheme, coalesce(label, value::varchar)
)

select
    record_dialogues.corpus_id,
    record_dialogues.release,
    record_dialogues.split,
    record_dialogues.standard_split,
    record_dialogues.subset,
    record_dialogues.record_id,
    record_dialogues.is_default,
    record_dialogues.is_first_in_split,
    record_dialogues.dialogue_id,
    record_dialogues.language,
    record_dialogues.domain,
    record_dialogues.started_at,
    record_dialogues.hour_of_day,
    record_dialogues.weekday,
    labelled.scheme,
    labelled.label,
    labelled.vote_count,
from bi.record_dialogues
inner join labelled on labelled.record_id = record_dialogues.record_id
