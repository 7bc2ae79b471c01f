-- MANtIS: how often each intent is given, by site, role and position in the dialogue.
-- grain: split, site, role, turn_index, intent
--   split: Split, by the publisher's own name.
--   site: Site of Stack Exchange that the dialogue is from.
--   role: user or agent, as published.
--   turn_index: 0-based position in the dialogue.
--   intent: Code of the intent, verbatim.
--   meaning: What the code means; null if it is not declared.
--   labelled_count: Labelled utterances of this split, site, role and position.
--   utterance_count: Of these, utterances with the intent; one may have several.
--   share: utterance_count by labelled_count, 0 to 1.
with
labelled as (
    select
        utterance_intents.split,
        utterance_intents.standard_split,
        dialogues.domain as site,
        turns.role,
        utterance_intents.turn_index,
        list_distinct(utterance_intents.intents) as intents,
    from mantis.utterance_intents
    inner join main.dialogues on dialogues.dialogue_id = utterance_intents.dialogue_id
    inner join main.turns
        on turns.dialogue_id = utterance_intents.dialogue_id and turns.turn_index = utterance_intents.turn_index
),

places as (
    select
        split,
        site,
        role,
        turn_index,
        count(*) as labelled_count,
    from labelled
    group by split, site, role, turn_index
),

given as (
    select
        split,
        standard_split,
        site,
        role,
        turn_index,
        unnest(intents) as intent,
    from labelled
),

counts as (
    select
        split,
        standard_split,
        site,
        role,
        turn_index,
        intent,
        count(*) as utterance_count,
    from given
    group by split, standard_split, site, role, turn_index, intent
)

select
    counts.split,
    counts.standard_split,
    counts.site,
    counts.role,
    counts.turn_index,
    counts.intent,
    labels.meaning,
    places.labelled_count,
    counts.utterance_count,
    counts.utterance_count / places.labelled_count as share,
from counts
inner join places
    on places.split = counts.split
    and places.site = counts.site
    and places.role = counts.role
    and places.turn_index = counts.turn_index
left join main.labels on labels.scheme = 'mantis.intent' and labels.label = counts.intent
