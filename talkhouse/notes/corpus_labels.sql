-- The commonest label that the publisher gives a turn or dialogue, of the schemes that have one of some labels.
select dialogue_id, turn_index, mode(label)
from main.annotations
where scheme in (select scheme from main.annotations where label in (select unnest($labels::varchar[])))
    and dialogue_id in (select unnest($dialogues::varchar[]))
    and start_index is null and persona_set is null and label is not null
group by all
