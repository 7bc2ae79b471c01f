select corpus_id, detail, source_file_id, pointer, record_id, task, turn_index
from bi.findings
where rule = $rule
order by corpus_id, finding_index
limit $limit
