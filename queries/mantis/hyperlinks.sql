-- Each web address in an agent's turn: what the agent's answer rests on.
-- grain: dialogue_id, turn_index, link_index
--   turn_index: 0-based position of the agent's turn in its dialogue.
--   link_index: 0-based position of the link among those of the turn.
--   url: The address as the turn has it: from an href, or bare without the punctuation that ends it.
--   site: Host of the address in lower case, without www.; null where the address names none.
with
grounded as (
    select dialogue_id, turn_index, mantis.links(text) as links
    from main.turns
    where starts_with(dialogue_id, 'mantis:')
        and role = 'agent'
        -- Each address has one or the other: to look for these first saves a third of the time.
        and (contains(text, '="') or contains(text, '://'))
),

one_by_one as (
    select
        dialogue_id,
        turn_index,
        unnest(links) as url,
        unnest(range(len(links)))::integer as link_index,
    from grounded
)

select
    dialogue_id,
    turn_index,
    link_index,
    url,
    mantis.host(url) as site,
from one_by_one
