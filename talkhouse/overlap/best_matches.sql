create table best_${unit} as
select ${key}, min(struct_pack(
    is_phrase := is_phrase,
    closeness := ${closeness},
    behind := -similarity,
    place := other_place,
    dialogue_id := other_owner,
    turn_index := other_turn_index,
    kind := kind,
    similarity := similarity
)) as best
from ${result}.main.matches
where unit = '${unit}' and other_unit = '${unit}' and other_place in (select place from against)
group by ${key}
