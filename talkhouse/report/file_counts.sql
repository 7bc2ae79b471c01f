select corpus_id, kind, count(*), sum(records_in), sum(records_loaded), sum(records_quarantined)
from meta.source_files group by all order by all
