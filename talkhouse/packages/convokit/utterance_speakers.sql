(
    select dialogue_id, turn_index, list(speaker_id order by position) as speakers
    from ${turn_speakers}
    group by all
)
