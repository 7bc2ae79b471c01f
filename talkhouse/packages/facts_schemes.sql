-- A label that a file repeats counts once, as in the views of agreement.
with units as (
    select scheme, any_value(annotator_count) as annotator_count
    from ${db}.bi.label_counts
    where scheme in (${schemes})
    group by scheme, record_id, turn_index, persona_set, persona_position
)

select
    split_part(schemes.scheme, '.', 1) as corpus_id,
    schemes.scheme,
    schemes.description,
    schemes.target,
    count(*) as units,
    min(annotator_count) as fewest_annotators,
    quantile_disc(annotator_count, 0.5) as median_annotators,
    max(annotator_count) as most_annotators
from units
inner join ${db}.main.schemes using (scheme)
group by all
order by schemes.scheme
