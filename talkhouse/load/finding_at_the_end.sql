insert into meta.findings by name
select
    $corpus as corpus_id,
    $rule as rule,
    $severity as severity,
    $file as source_file_id,
    $pointer as pointer,
    $detail as detail,
    coalesce(max(finding_index) + 1, 0) as finding_index,
from meta.findings
where corpus_id = $corpus
