-- DeliData: each row of a group's dialogue (INITIAL, MESSAGE, SUBMIT) with how well the team does after it.
-- grain: record_id, turn_index
--   corpus_id: delidata.
--   release: Null: the corpus was published once, and its publisher's release has no name.
--   record_id: The file of the group; of a group that is there twice, the first.
--   native_id: The publisher's id of the group.
--   group_size: People of the group, as its INITIAL row names them.
--   turn_index: 0-based row of the group's file; 0 is INITIAL, the state before the discussion.
--   message_count: MESSAGE rows so far, this one included.
--   progress: Position in the dialogue: 0 for its first row, 1 for its last; null where it has one row.
--   progress_percent_bin: The least progress of its bin in percent: 0 for 0 to 9, 10 ... 90 with the last row; null where there is one row.
--   speaker_name: Alias of who wrote it; an alias means nothing outside of its group.
--   annotation_type: What the message does for deliberation; null for a row without.
--   annotation_target: What the message is about; null for a row without.
--   team_performance: Mean score of everybody's solution after this row, 0 to 1, as published. It counts all whom the tracker has, and 0.5 for a solution that is not known.
--   performance_change: Team performance less that of the row before, as published: what this row itself changes, as when its author states another solution.
--   next_performance_change: performance_change of the next row, whoever wrote it: what follows on this row; null for the last.
--   change_since_start: Team performance less that of the group's first row.
--   best_so_far: Best team performance up to and including this row.
--   is_new_best: True where the team was never as good before; null for the first row.
with
labels as (
    select
        record_id,
        dialogue_id,
        turn_index,
        max(label) filter (where scheme = 'delidata.type') as annotation_type,
        max(label) filter (where scheme = 'delidata.target') as annotation_target,
        max(value) filter (where scheme = 'delidata.team_performance') as team_performance,
        max(value) filter (where scheme = 'delidata.performance_change') as performance_change,
    from main.annotations
    where scheme in (
        'delidata.type',
        'delidata.target',
        'delidata.team_performance',
        'delidata.performance_change'
    )
    group by record_id, dialogue_id, turn_index
),

group_sizes as (
    select participants.dialogue_id, count(*) as group_size
    from main.participants
    inner join main.speakers on speakers.speaker_id = participants.speaker_id
    where starts_with(participants.dialogue_id, 'delidata:') and speakers.kind = 'human'
    group by participants.dialogue_id
)

select
    records.corpus_id,
    records.release,
    records.split,
    records.standard_split,
    records.subset,
    records.record_id,
    records.dialogue_id,
    records.native_id,
    group_sizes.group_size,
    turns.turn_index,
    count(case when turns.kind = 'message' then 1 end) over so_far as message_count,
    turns.turn_index / nullif(max(turns.turn_index) over talk, 0)::double as progress,
    least(10 * turns.turn_index // nullif(max(turns.turn_index) over talk, 0), 9) * 10 as progress_percent_bin,
    turns.kind,
    speakers.name as speaker_name,
    turns.text,
    labels.annotation_type,
    labels.annotation_target,
    labels.team_performance,
    labels.performance_change,
    lead(labels.performance_change) over in_order as next_performance_change,
    labels.team_performance - first_value(labels.team_performance) over so_far as change_since_start,
    max(labels.team_performance) over so_far as best_so_far,
    labels.team_performance > max(labels.team_performance) over before as is_new_best,
from bi.record_dialogues as records
inner join main.turns on turns.dialogue_id = records.dialogue_id
left join main.speakers on speakers.speaker_id = turns.speaker_id
left join labels
    on labels.record_id = records.record_id
    and labels.dialogue_id = records.dialogue_id
    and labels.turn_index = turns.turn_index
left join group_sizes on group_sizes.dialogue_id = records.dialogue_id
where records.corpus_id = 'delidata'
window
    talk as (partition by records.record_id, records.dialogue_id),
    in_order as (partition by records.record_id, records.dialogue_id order by turns.turn_index),
    so_far as (
        partition by records.record_id, records.dialogue_id
        order by turns.turn_index
        rows between unbounded preceding and current row
    ),
    before as (
        partition by records.record_id, records.dialogue_id
        order by turns.turn_index
        rows between unbounded preceding and 1 preceding
    )
