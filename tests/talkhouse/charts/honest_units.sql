with
firsts as (
    select records.dialogue_id, min(releases.release_index) as release_index
    from main.records
    inner join main.releases using (corpus_id, release)
    group by records.dialogue_id
),
counted as (
    select records.*
    from main.records
    left join main.releases using (corpus_id, release)
    left join firsts using (dialogue_id)
    where records.extra ->> 'repeats' is null
        and (firsts.release_index is null or firsts.release_index is not distinct from releases.release_index)
)
