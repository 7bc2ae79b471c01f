select
    dialogues.corpus_id, count(said_at) as timed_turn_count, min(said_at) as first_said_at, max(said_at) as last_said_at
from ${db}.main.turns
inner join ${db}.main.dialogues using (dialogue_id)
where list_contains($ids, dialogues.corpus_id)
group by dialogues.corpus_id
