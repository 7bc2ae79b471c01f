-- Each MESSAGE of a record with the one before it and its labels; a Moderating Owl's (in raw room dumps only) and refused rows are left out.
-- grain: record_id, turn_index
--   message_id: The publisher's id of the message, verbatim.
--   previous: Text of the MESSAGE before it in the group (SUBMIT rows are passed over), quotes decoded; BEGIN where there is none.
--   message: Text of the message, quotes decoded.
--   message_raw: The message as delitoolkit's reader returns it: the cell with its single quotes, without leading spaces, and without the double quotes that begin it, which the reader takes for its own.
--   annotation_type: The published annotation_type; empty where the cell is.
--   annotation_target: The published annotation_target; empty where the cell is.
--   performance_change: The published performance_change; null where it is not a number.
with
messages as (
    select
        turns.dialogue_id,
        turns.turn_index,
        turns.native_id as message_id,
        coalesce(
            lag(turns.text) over (partition by turns.dialogue_id order by turns.turn_index), 'BEGIN'
        ) as previous,
        turns.text as message,
        delidata.reference_text(turns.text, turns.extra) as message_raw,
    from main.turns
    inner join main.speakers on speakers.speaker_id = turns.speaker_id
    where starts_with(turns.dialogue_id, 'delidata:')
        and turns.kind = 'message'
        and speakers.name <> 'Moderating Owl'
),

labels as (
    select
        record_id,
        turn_index,
        max(label) filter (where scheme = 'delidata.type') as annotation_type,
        max(label) filter (where scheme = 'delidata.target') as annotation_target,
        max(value) filter (where scheme = 'delidata.performance_change') as performance_change,
    from main.annotations
    where scheme in ('delidata.type', 'delidata.target', 'delidata.performance_change')
    group by record_id, turn_index
),

refused as (
    select record_id, turn_index
    from meta.findings
    where corpus_id = 'delidata' and severity = 'reject_example'
)

select
    records.record_id,
    records.release,
    records.split,
    records.source_file_id,
    messages.dialogue_id,
    messages.turn_index,
    messages.message_id,
    messages.previous,
    messages.message,
    messages.message_raw,
    coalesce(labels.annotation_type, '') as annotation_type,
    coalesce(labels.annotation_target, '') as annotation_target,
    labels.performance_change,
from main.records
inner join messages on messages.dialogue_id = records.dialogue_id
left join labels on labels.record_id = records.record_id and labels.turn_index = messages.turn_index
anti join refused
    on refused.record_id = records.record_id
    and coalesce(refused.turn_index, messages.turn_index) = messages.turn_index
where records.corpus_id = 'delidata'
