-- Each turn of a dialogue in which a turn answers another than the one before it, with the turns that lead to it by replies, from the first message on: its path.
-- grain: dialogue_id, turn_index
-- scope: dialogue
--   corpus_id: Corpus of the dialogue.
--   turn_index: The turn.
--   is_tree: True where the whole dialogue is one tree: one turn answers none, and all others answer a turn. By default a task then takes the path of a turn as its context; else, as in a chat in which some messages quote others, all turns before it.
--   path: turn_index of each turn that leads to it: the first message, the answer to that, and so on to what it answers itself. Empty where it answers none.
with
answered as (
    select
        dialogue_id,
        list(reply_to order by turn_index) as replies,
        count(*) - count(reply_to) as root_count,
    from main.turns
    where dialogue_id in (select dialogue_id from main.turns where reply_to is not null)
    group by dialogue_id
    -- Elsewhere the path is all turns before it.
    having count_if(turn_index > 0 and reply_to is distinct from turn_index - 1) > 0
),

begun as (
    select
        dialogue_id,
        root_count,
        list_transform(
            replies, lambda reply: list_filter([reply], lambda answered: answered is not null)
        ) as nearest,
    from answered
),

-- Each step puts before the nearest 1, 2, 4 ... turns of a path the nearest of the first of these.
walked as (
    select
        dialogue_id,
        root_count,
        list_reduce(
            [nearest] || list_transform(range(1 + log2(len(nearest))::integer), lambda step: nearest),
            lambda paths, start: list_transform(
                paths,
                lambda path: case when len(path) > 0 then paths[path[1] + 1] || path else path end
            )
        ) as paths,
    from begun
)

select
    split_part(dialogue_id, ':', 1) as corpus_id,
    dialogue_id,
    unnest(range(len(paths)))::integer as turn_index,
    -- And no path begins with a turn that has one, which is in a loop.
    root_count = 1
    and len(list_filter(paths, lambda path: len(path) > 0 and len(paths[path[1] + 1]) > 0)) = 0 as is_tree,
    unnest(paths) as path,
from walked
