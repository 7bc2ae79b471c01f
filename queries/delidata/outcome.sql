-- Outcome: each group with the team's performance in its first and its last row, and whether that was a gain.
-- grain: split, example_index
-- label: label
-- meanings: gain = The team's performance is higher in the last row than in the first; same = It is the same in the last row as in the first; loss = It is lower in the last row than in the first
-- task_category: text-classification
--   start_performance: The published team_performance of the first row.
--   end_performance: The published team_performance of the last row.
--   label: gain, same or loss: the last performance against the first.
with
performances as (
    select
        record_id,
        arg_min(value, turn_index) as start_performance,
        arg_max(value, turn_index) as end_performance,
    from main.annotations
    where scheme = 'delidata.team_performance'
    group by record_id
)

select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    performances.start_performance,
    performances.end_performance,
    case
        when performances.end_performance > performances.start_performance then 'gain'
        when performances.end_performance < performances.start_performance then 'loss'
        else 'same'
    end as label,
    examples.record_id,
    true as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join performances on performances.record_id = examples.record_id
where examples.corpus_id = 'delidata' and examples.task = 'outcome'
