with sizes as (
    select
        corpus_id, task, release, coalesce(split, 'all') as split, example_count,
        coalesce(list_position(['train', 'validation', 'test'], standard_split), 9) as position,
    from bi.split_publications where is_default
)

select
    corpus_id, task, release,
    string_agg(split || ' ' || format('{:,}', example_count), ', ' order by position, split),
from sizes group by corpus_id, task, release order by all
