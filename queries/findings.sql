-- Each finding, of one corpus ($corpus) or of all (null), with its rule's condition and remedy; the gravest first.
select
    findings.rule,
    findings.severity,
    findings.corpus_id,
    findings.source_file_id as file,
    findings.pointer as place,
    findings.record_id,
    findings.task,
    findings.turn_index,
    findings.detail,
    rules.condition,
    rules.remedy,
from meta.findings
left join meta.rules on rules.rule = findings.rule
where $corpus is null or findings.corpus_id = $corpus
order by
    list_position(['reject_file', 'reject_dialogue', 'reject_example', 'warn', 'note'], findings.severity),
    findings.rule,
    findings.corpus_id,
    findings.finding_index
