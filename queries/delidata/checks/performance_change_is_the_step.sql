-- The change of performance is the team's performance less that of the row before, 0 in the first row.
-- severity: warn
-- rule: DE-05
with
performances as (
    select
        record_id,
        turn_index,
        value,
        lag(value) over (partition by record_id order by turn_index) as value_before,
        lag(turn_index) over (partition by record_id order by turn_index) as index_before,
    from main.annotations
    where scheme = 'delidata.team_performance'
),

steps as (
    select
        record_id,
        turn_index,
        case when turn_index = 0 then 0 else value - value_before end as step,
    from performances
    where turn_index = 0 or index_before = turn_index - 1
)

select
    annotations.record_id,
    annotations.turn_index,
    'performance_change is ' || annotations.value || ', the step is ' || round(steps.step, 3) as detail,
from main.annotations
inner join steps on steps.record_id = annotations.record_id and steps.turn_index = annotations.turn_index
where annotations.scheme = 'delidata.performance_change' and abs(annotations.value - steps.step) > 0.0010001
order by annotations.record_id, annotations.turn_index
