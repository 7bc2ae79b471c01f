${into}
with
met as (
    select pairs.form_no, unit, place_no, shared, total, score, lowest, units
    from (${pairs}) as pairs
    inner join ${lowest_table} using (${key})
),

ranked as (
    select
        form_no,
        unit,
        place_no,
        struct_pack(behind := -score, unit_no := unnest(lowest), shared := shared, total := total) as choice,
    from met
),

first as (
    select form_no, unit, place_no, min(choice) as first from ranked group by form_no, unit, place_no
),

second as (
    select form_no, unit, place_no, min(choice) as second
    from ranked
    inner join first using (form_no, unit, place_no)
    where owner_of(choice.unit_no) <> owner_of(first.first.unit_no)
    group by form_no, unit, place_no
),

counts as (
    select form_no, unit, place_no, sum(units)::bigint as units from met group by form_no, unit, place_no
)

select form_no, unit, place_no, first, second, units
from first
inner join counts using (form_no, unit, place_no)
left join second using (form_no, unit, place_no)
