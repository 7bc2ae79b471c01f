-- A corpus that was read since, and has no terms, has a licence that asks nothing which is known by a name.
insert into corpus_terms by name
with carried as (
    select corpus_id from corpora where not is_sample
    except
    select corpus_id from corpus_terms
    except
    select key from meta.loads, json_each(outcome) where schema_revision >= '0006' and value = '"loaded"'
)
select
    corpus_id, 'all' as part, false as is_attribution, false as is_share_alike, false as is_non_commercial,
    true as is_unknown, '${note}' as note,
from carried
