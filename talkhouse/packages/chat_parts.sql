select parts.*, turns.text, file.extra
from (select *${hidden} from main.parts where ${wanted}) as parts
inner join main.turns on turns.dialogue_id = parts.dialogue_id and turns.turn_index = parts.turn_index
inner join (
    select dialogue_id, min_by(source_file_id, (source_file_id, record_index)) as source_file_id
    from main.records group by dialogue_id
) as record on record.dialogue_id = parts.dialogue_id
inner join meta.source_files as file on file.source_file_id = record.source_file_id
order by parts.dialogue_id, parts.turn_index, parts.part_index
