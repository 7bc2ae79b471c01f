with
standing as (
    select form_holders.unit, form_holders.owner_no, form_no, place_no, units, place in (from against) as is_against
    from form_holders
    inner join owner_places using (owner_no)
    inner join places using (place_no)
),

counted as (
    select unit, form_no, is_against, sum(units) as units from standing group by unit, form_no, is_against
),

own as (
    select unit, owner_no, form_no, is_against, sum(units) as units
    from standing
    group by unit, owner_no, form_no, is_against
)

select
    coalesce((
        select sum(mine.units * others.units)
        from met_forms as met
        inner join counted as mine on mine.form_no = met.form_no and not mine.is_against
        inner join counted as others
            on others.form_no = met.other_form_no and others.is_against and others.unit = mine.unit
        where mine.unit = $unit
    ), 0) - coalesce((
        select sum(mine.units * others.units)
        from met_forms as met
        inner join own as mine on mine.form_no = met.form_no and not mine.is_against
        inner join own as others
            on others.form_no = met.other_form_no and others.is_against and others.owner_no = mine.owner_no
        where mine.unit = $unit
    ), 0)
