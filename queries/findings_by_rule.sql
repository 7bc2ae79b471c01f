-- The findings of each rule and corpus: how many, with the rule's condition and remedy, and the first three of them.
select
    findings.rule,
    findings.corpus_id,
    findings.severity,
    rules.condition,
    rules.remedy,
    count(*) as finding_count,
    arg_min(
        {
            'file': findings.source_file_id,
            'place': findings.pointer,
            'record_id': findings.record_id,
            'task': findings.task,
            'turn_index': findings.turn_index,
            'detail': left(findings.detail, 400),
        },
        findings.finding_index,
        3
    ) as first_ones,
from meta.findings
left join meta.rules on rules.rule = findings.rule
group by findings.rule, findings.corpus_id, findings.severity, rules.condition, rules.remedy
order by
    list_position(['reject_file', 'reject_dialogue', 'reject_example', 'warn', 'note'], findings.severity),
    findings.rule,
    findings.corpus_id
