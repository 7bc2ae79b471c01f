-- The nearest to what an owner says, and how many units are near.

-- What an owner says that is near to something else that it says itself.
create table near_own as
select mine.owner_no, mine.form_no, sum(others.units)::bigint as units
from form_holders as mine
inner join near on near.form_no = mine.form_no
inner join form_holders as others on others.owner_no = mine.owner_no and others.form_no = near.other_form_no
group by mine.owner_no, mine.form_no;

create table near_matches as
select
    owner_no, text_no, other_unit, other_place_no, chosen.unit_no as other_unit_no, chosen.shared, chosen.total, matches
from (
    select
        holders.owner_no,
        holders.text_no,
        near_best.unit as other_unit,
        near_best.place_no as other_place_no,
        if(owner_of(first.unit_no) = holders.owner_no, second, first) as chosen,
        near_best.units - if(stands.owner_no is null, 0, coalesce(near_own.units, 0)) as matches,
    from holders
    inner join near_best on near_best.form_no = holders.form_no
    left join near_own on near_own.owner_no = holders.owner_no and near_own.form_no = holders.form_no
    left join owner_places as stands
        on stands.owner_no = holders.owner_no
        and stands.place_no = near_best.place_no
        and holders.unit = near_best.unit
)
where chosen is not null;
