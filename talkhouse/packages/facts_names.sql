select scheme
from ${db}.main.schemes
where list_contains($ids, split_part(scheme, '.', 1))
order by scheme
