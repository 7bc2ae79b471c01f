-- The team's performance is the mean of what the tracker's solutions score.
-- severity: warn
-- rule: DE-05
with
solutions as (
    select
        record_id,
        turn_index,
        annotator_index,
        coalesce(string_agg(label, ''), '') as cards,
    from main.annotations
    where scheme = 'delidata.tracker'
    group by record_id, turn_index, annotator_index
),

means as (
    select
        record_id,
        turn_index,
        avg(
            0.25::double * (
                regexp_matches(cards, '[AEIOUY]')::integer
                + regexp_matches(cards, '[13579]')::integer
                + (not regexp_matches(cards, '[B-DF-HJ-NP-TV-XZ]'))::integer
                + (not regexp_matches(cards, '[02468]'))::integer
            )
        ) as score,
    from solutions
    group by record_id, turn_index
)

select
    annotations.record_id,
    annotations.turn_index,
    'team_performance is ' || annotations.value || ', the solutions score ' || round(means.score, 3) as detail,
from main.annotations
inner join means on means.record_id = annotations.record_id and means.turn_index = annotations.turn_index
where annotations.scheme = 'delidata.team_performance' and abs(annotations.value - means.score) > 0.0010001
order by annotations.record_id, annotations.turn_index
