-- Speakers whose row is the one that the first file has it say, and who may have another first file now.
with
named as (
    select speaker_id from gone_speakers
    union
    select speaker_id from fresh.main.speakers
),

staying as (
    select speaker_id, min(source_file_id) as first, min(role) as least, max(role) as most
    from main.participants inner join main.records using (dialogue_id)
    where speaker_id in (from named)
    group by all
),

read as (
    select speaker_id, min(source_file_id) as first, min(role) as least, max(role) as most
    from fresh.main.participants inner join fresh.main.records using (dialogue_id)
    group by all
),

compared as (
    select
        staying.speaker_id,
        gone_speakers.first < staying.first as has_lost_first,
        coalesce(read.first < staying.first, false) as is_read_first,
        fresh.name is distinct from stored.name as has_other_name,
        (fresh.native_id, fresh.name, fresh.kind, fresh.is_anonymous, fresh.extra)
            is distinct from (stored.native_id, stored.name, stored.kind, stored.is_anonymous, stored.extra)
            as is_other,
        read.speaker_id is not null as is_read,
        least(staying.least, gone_speakers.least, read.least)
            <> greatest(staying.most, gone_speakers.most, read.most) as has_roles,
    from staying
    inner join main.speakers as stored on stored.speaker_id = staying.speaker_id
    left join gone_speakers on gone_speakers.speaker_id = staying.speaker_id
    left join read on read.speaker_id = staying.speaker_id
    left join fresh.main.speakers as fresh on fresh.speaker_id = staying.speaker_id
)

select speaker_id
from compared
where (is_read and is_other and (has_other_name or is_read_first))
    or (has_lost_first and not (is_read_first and not is_other) and ($has_facts or has_roles))
limit 1
