-- DeliData: each group with how much it says, and how well its team does at the start, at the end and at best.
-- grain: record_id
--   corpus_id: delidata.
--   release: Null: the corpus was published once, and its publisher's release has no name.
--   record_id: The file of the group; of a group that is there twice, the first.
--   native_id: The publisher's id of the group.
--   group_size: People of the group, as its INITIAL row names them.
--   turn_count: Rows of the group's file: INITIAL, MESSAGE and SUBMIT.
--   message_count: MESSAGE rows.
--   message_count_bin: The least message_count of its bin: 0 for 0 to 9, 10 for 10 to 19, 20 ...
--   submit_count: SUBMIT rows: solutions that somebody hands in.
--   word_count: Words of the messages, as bi.turns counts them.
--   character_count: Characters of the messages.
--   probing_count: Messages of the type Probing.
--   initial_performance: The published team performance of the first row that has one, 0 to 1: mean score of everybody's solution before the discussion. It counts all whom the tracker has, and 0.5 for a solution that is not known.
--   final_performance: The published team performance of the last row that has one.
--   best_performance: The best published team performance of a row.
--   performance_change: final_performance less initial_performance.
--   outcome: gain, same or loss, as in delidata.outcome: the last performance against the first; null where there is none.
with
performances as (
    select
        record_id,
        arg_min(value, turn_index) filter (where scheme = 'delidata.team_performance') as initial_performance,
        arg_max(value, turn_index) filter (where scheme = 'delidata.team_performance') as final_performance,
        max(value) filter (where scheme = 'delidata.team_performance') as best_performance,
        count(*) filter (where scheme = 'delidata.type' and label = 'Probing') as probing_count,
    from main.annotations
    where scheme in ('delidata.team_performance', 'delidata.type')
    group by record_id
),

talks as (
    select
        dialogue_id,
        count(*) as turn_count,
        count(*) filter (where kind = 'message') as message_count,
        count(*) filter (where kind = 'submit') as submit_count,
        coalesce(sum(bi.word_count(text)) filter (where kind = 'message'), 0)::bigint as word_count,
        coalesce(sum(length(text)) filter (where kind = 'message'), 0)::bigint as character_count,
    from main.turns
    where starts_with(dialogue_id, 'delidata:')
    group by dialogue_id
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
    talks.turn_count,
    talks.message_count,
    talks.message_count // 10 * 10 as message_count_bin,
    talks.submit_count,
    talks.word_count,
    talks.character_count,
    coalesce(performances.probing_count, 0) as probing_count,
    performances.initial_performance,
    performances.final_performance,
    performances.best_performance,
    performances.final_performance - performances.initial_performance as performance_change,
    case
        when performances.final_performance > performances.initial_performance then 'gain'
        when performances.final_performance < performances.initial_performance then 'loss'
        when performances.final_performance = performances.initial_performance then 'same'
    end as outcome,
from bi.record_dialogues as records
inner join talks on talks.dialogue_id = records.dialogue_id
left join performances on performances.record_id = records.record_id
left join group_sizes on group_sizes.dialogue_id = records.dialogue_id
where records.corpus_id = 'delidata'
