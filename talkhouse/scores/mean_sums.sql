select
    names.name,
    names.is_share,
    list(coalesce(numerator, 0) order by kind) as numerators,
    list(coalesce(denominator, 0) order by kind) as denominators,
    list((of_part.part is not null)::integer::double order by kind) as presences,
from (select distinct name, is_share from ${of_part}) as names
cross join (select kind, min(part) as part from ${kinds} group by kind) as firsts
left join ${of_part} as of_part on of_part.part = firsts.part and of_part.name = names.name
group by names.name, names.is_share
