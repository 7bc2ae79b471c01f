select corpus_id, rule, severity, count(*) as findings
from ${db}.meta.findings
where list_contains($ids, corpus_id)
group by corpus_id, rule, severity
order by corpus_id, rule, severity
