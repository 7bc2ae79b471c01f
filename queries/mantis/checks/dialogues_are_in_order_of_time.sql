-- Within a split and a site, no dialogue begins before the one above it.
-- severity: warn
-- rule: MA-04
with
timed as (
    select
        conversations.record_id,
        conversations.native_id,
        dialogues.domain,
        dialogues.started_at,
        lag(conversations.native_id) over above as native_id_above,
        lag(dialogues.started_at) over above as started_above,
    from mantis.conversations
    inner join main.dialogues on dialogues.dialogue_id = conversations.dialogue_id
    where dialogues.started_at is not null
    window above as (
        partition by conversations.split, dialogues.domain
        order by conversations.record_index, conversations.subset desc
    )
)

select
    record_id,
    'dialogue ' || native_id || ' begins at ' || started_at || ', before dialogue ' || native_id_above || ' above it in '
        || domain || ' (' || started_above || ')' as detail,
from timed
where started_at < started_above
order by record_id
