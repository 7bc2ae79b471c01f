-- MANtIS: how often each intent is given, by site, role and position in the dialogue.
-- grain: release, split, site, role, turn_index, intent
-- terms: none
--   corpus_id: mantis.
--   release: Null: the corpus was published once, and its publisher's release has no name.
--   split: Split, by the publisher's own name.
--   site: Site of Stack Exchange that the dialogue is from.
--   role: user or agent, as published.
--   turn_index: 0-based position in the dialogue.
--   intent: Code of the intent, verbatim; each code that occurs anywhere has a row here.
--   meaning: What the code means; null if it is not declared.
--   labelled_count: Labelled utterances of this split, site, role and position; the same for each intent, so that rows of one intent may be added up.
--   utterance_count: Of these, utterances with the intent; may be 0. An utterance may have several intents.
--   share: utterance_count by labelled_count, 0 to 1.
with
labelled as (
    select
        records.corpus_id,
        records.release,
        records.split,
        records.standard_split,
        dialogues.domain as site,
        turns.role,
        utterance_intents.turn_index,
        list_distinct(utterance_intents.intents) as intents,
    from mantis.utterance_intents
    inner join main.records on records.record_id = utterance_intents.record_id
    inner join main.dialogues on dialogues.dialogue_id = utterance_intents.dialogue_id
    inner join main.turns
        on turns.dialogue_id = utterance_intents.dialogue_id and turns.turn_index = utterance_intents.turn_index
),

places as (
    select
        corpus_id,
        release,
        split,
        standard_split,
        site,
        role,
        turn_index,
        count(*) as labelled_count,
    from labelled
    group by corpus_id, release, split, standard_split, site, role, turn_index
),

given as (
    select
        release,
        split,
        site,
        role,
        turn_index,
        unnest(intents) as intent,
    from labelled
),

counts as (
    select
        release,
        split,
        site,
        role,
        turn_index,
        intent,
        count(*) as utterance_count,
    from given
    group by release, split, site, role, turn_index, intent
),

intents as (
    select distinct intent
    from given
)

select
    places.corpus_id,
    places.release,
    places.split,
    places.standard_split,
    places.site,
    places.role,
    places.turn_index,
    intents.intent,
    labels.meaning,
    places.labelled_count,
    coalesce(counts.utterance_count, 0) as utterance_count,
    coalesce(counts.utterance_count, 0) / places.labelled_count as share,
from places
cross join intents
left join counts
    on counts.release is not distinct from places.release
    and counts.split is not distinct from places.split
    and counts.site is not distinct from places.site
    and counts.role = places.role
    and counts.turn_index = places.turn_index
    and counts.intent = intents.intent
left join main.labels on labels.scheme = 'mantis.intent' and labels.label = intents.intent
