select
    dialogues.dialogue_id,
    dialogues.corpus_id,
    coalesce(dialogues.started_at, said.first_said_at) as started_at,
from main.dialogues
left join (
    select dialogue_id, min(said_at) as first_said_at
    from main.turns
    where said_at is not null
    group by dialogue_id
) as said on said.dialogue_id = dialogues.dialogue_id
