-- By the tables, as the views of labels would count those of all conversations. Of the default publication.
with page as (
    select unnest($dialogues::varchar[]) as dialogue_id
),
published as (
    select record_id
    from main.records
    semi join page on page.dialogue_id = records.dialogue_id
    left join bi.default_releases as defaults on defaults.dialogue_id = records.dialogue_id
    where records.release is not distinct from defaults.release
),
votes as (
    select dialogue_id, record_id, turn_index, scheme, label, count(*) as vote_count
    from main.annotations
    inner join main.schemes using (scheme)
    semi join published on published.record_id = annotations.record_id
    where schemes.kind = 'single_label' and turn_index is not null and label is not null
        and dialogue_id in (select dialogue_id from page)
    group by dialogue_id, record_id, turn_index, scheme, label
),
majorities as (
    select dialogue_id, turn_index, scheme, min_by(label, (-vote_count, label)) as label
    from votes
    group by dialogue_id, turn_index, scheme
)
select dialogue_id, scheme, label, count(*) as turn_count
from majorities
group by dialogue_id, scheme, label
order by dialogue_id, scheme, label
