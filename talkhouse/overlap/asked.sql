create table asked as
select owners.owner_no, examples.turn_index, arg_min_null(paths.path, examples.task) as path
from ${warehouse}.main.examples
inner join owners on owners.thing = 'dialogue' and owners.owner = examples.dialogue_id
left join contexts on contexts.corpus_id = examples.corpus_id and contexts.task = examples.task
left join ${warehouse}.bi.turn_paths as paths
    on paths.dialogue_id = examples.dialogue_id
    and paths.turn_index = examples.turn_index
    and case when contexts.context is null then paths.is_tree else contexts.context = 'replies' end
where examples.turn_index is not null
group by owners.owner_no, examples.turn_index
