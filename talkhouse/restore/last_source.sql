select source
from meta.loads
where json_extract_string(outcome, $corpus) = 'loaded'
order by load_id desc
limit 1
