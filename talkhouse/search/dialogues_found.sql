select
    dialogues.dialogue_id,
    dialogues.corpus_id,
    coalesce(list(distinct split order by split) filter (split is not null), []) as splits,
from main.dialogues
left join main.records using (dialogue_id)
where dialogues.dialogue_id in (select unnest($dialogues::varchar[]))
group by all
