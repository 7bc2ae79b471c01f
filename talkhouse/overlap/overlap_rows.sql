-- Places, units and matches by their names, sorted by all columns.
insert into ${result}.main.places
select place, corpus_id, release, split, standard_split from places order by all;

insert into ${result}.main.units
select unit, place, units, owners, texts, forms, short
from counts inner join places using (place_no)
order by all;

insert into ${result}.main.matches
select
    rows.unit,
    here.place,
    mine.owner,
    if(rows.unit in ('turn', 'context'), turn_index_of(rows.unit_no), null) as turn_index,
    rows.other_unit,
    there.place as other_place,
    rows.tokens,
    rows.words,
    theirs.owner as other_owner,
    if(rows.other_unit in ('turn', 'context'), turn_index_of(rows.other_unit_no), null) as other_turn_index,
    rows.kind,
    rows.shared,
    rows.total,
    rows.shared / rows.total as similarity,
    rows.matches,
    rows.unit <> 'persona' and rows.kind <> 'same' and (
        rows.words < ${short} or rows.words < ${stereotype} and rows.matches > ${often} or rows.is_template
    ) as is_phrase,
from rows
inner join places as here on here.place_no = rows.place_no
inner join places as there on there.place_no = rows.other_place_no
inner join owners as mine on mine.owner_no = owner_of(rows.unit_no)
inner join owners as theirs on theirs.owner_no = owner_of(rows.other_unit_no)
order by all;
