(
    select dialogue_id, list(${participant} order by speaker_id) as participants
    from (
        select *, (dialogue_id, speaker_id) in (
            select (dialogue_id, speaker_id) from ${turns}
            where speaker_id is not null
            ${together}
        ) as speaks
        from ${participants}
    )
    group by dialogue_id
)
