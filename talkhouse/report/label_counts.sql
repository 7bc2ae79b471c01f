select
    label_counts.corpus_id,
    label_counts.scheme,
    label_counts.release,
    schemes.description,
    schemes.target,
    label_counts.label,
    sum(label_counts.vote_count)::bigint as vote_count,
from bi.label_counts
inner join main.schemes using (scheme)
where label_counts.is_default
group by all
order by label_counts.scheme, label_counts.release
