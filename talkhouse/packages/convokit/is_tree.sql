-- Whether the published replies of a dialogue make one tree, none of whose turns is left out: of others ``traverse``
-- raises. Where each turn answers the one before it, ``bi.turn_paths`` has none of it.
count_if(reply_to is null) over (partition by dialogue_id) = 1
and max(turn_index) over (partition by dialogue_id) = count(*) over (partition by dialogue_id) - 1
and dialogue_key not in (select dialogue_id from bi.turn_paths where not is_tree) as is_tree
