-- Each labelled utterance with its intents: from the intent file of its split, or else from the rows of the intents' CSV, as the authors' merging has them.
-- grain: split, dialogue_id, turn_index
-- classes: intents = mantis.intent
--   native_id: Key of the dialogue in its split's object.
--   intents: The codes, verbatim and in published order.
--   has_intent_labels: Whether the record says of the dialogue that it is labelled, which the authors' code relies on; true for rows of the CSV.
--   record_id: The record that says so: of the intent file, or of the last row of the CSV about the utterance.
with
given as (
    select
        records.split,
        records.standard_split,
        records.native_id,
        records.dialogue_id,
        records.record_id,
        records.record_index,
        annotations.turn_index,
        list(annotations.label order by annotations.item_index) as intents,
    from main.annotations
    inner join main.records on records.record_id = annotations.record_id
    where annotations.scheme = 'mantis.intent'
        and records.corpus_id = 'mantis'
        and records.subset = 'intents_csv'
        and records.dialogue_id is not null
        and not exists (
            select 1
            from main.records as complete
            where complete.corpus_id = 'mantis' and complete.subset = 'intents' and complete.split = records.split
        )
    group by
        records.split,
        records.standard_split,
        records.native_id,
        records.dialogue_id,
        records.record_id,
        records.record_index,
        annotations.turn_index
),

merged as (
    -- A later row overwrites an earlier one.
    select
        split,
        standard_split,
        dialogue_id,
        native_id,
        turn_index,
        arg_max(intents, record_index) as intents,
        true as has_intent_labels,
        arg_max(record_id, record_index) as record_id,
    from given
    group by split, standard_split, native_id, dialogue_id, turn_index
),

openings as (
    -- The first row of a dialogue makes its first utterance the original question.
    select
        split,
        standard_split,
        dialogue_id,
        native_id,
        0 as turn_index,
        ['OQ'] as intents,
        true as has_intent_labels,
        arg_min(record_id, record_index) as record_id,
    from given
    group by split, standard_split, native_id, dialogue_id
    having min(turn_index) > 0
),

listed as (
    -- A list with nothing in it has no label to represent it.
    select
        split,
        standard_split,
        native_id,
        dialogue_id,
        record_id,
        coalesce(list_contains(json_keys(extra), 'has_intent_labels'), false) as has_intent_labels,
        unnest(map_entries((extra -> 'lists')::map(varchar, json))) as list,
    from main.records
    where corpus_id = 'mantis' and subset = 'intents'
)

select
    records.split,
    records.standard_split,
    records.dialogue_id,
    records.native_id,
    annotations.turn_index,
    list(annotations.label order by annotations.item_index) as intents,
    coalesce(bool_or(list_contains(json_keys(records.extra), 'has_intent_labels')), false) as has_intent_labels,
    records.record_id,
from main.annotations
inner join main.records on records.record_id = annotations.record_id
where annotations.scheme = 'mantis.intent' and records.corpus_id = 'mantis' and records.subset = 'intents'
group by
    records.split,
    records.standard_split,
    records.dialogue_id,
    records.native_id,
    annotations.turn_index,
    records.record_id
union all
select
    split,
    standard_split,
    dialogue_id,
    native_id,
    regexp_extract(list.key, '^/utterances/(\d+)/intent$', 1)::integer as turn_index,
    []::varchar[] as intents,
    has_intent_labels,
    record_id,
from listed
where list.value::varchar = '[]'
union all
select *
from merged
union all
select *
from openings
