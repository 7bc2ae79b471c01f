
left join bi.turn_paths as paths
    on paths.dialogue_id = examples.dialogue_id
    and paths.turn_index = examples.turn_index
    and $takes_path
