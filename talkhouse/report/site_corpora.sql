select dialogue_id, corpus_id
from main.dialogues
where dialogue_id in (select unnest($dialogues::varchar[]))
order by corpus_id, dialogue_id
