-- Each finding: what was warned about or refused, with its rule's condition and remedy.
-- grain: corpus_id, finding_index
-- terms: none
--   corpus_id: Corpus of the file or record; null: the build itself.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   split: Split of the record, by the publisher's own name; null where the finding is about a file, or about a record that was not loaded.
--   standard_split: The same as train, validation or test.
--   subset: The published file or folder of the record, if it was loaded.
--   finding_index: 0-based position within its corpus.
--   rule: Id of the rule.
--   severity: reject_file, reject_dialogue, reject_example, warn or note.
--   severity_rank: 1 for reject_file, the gravest, to 5 for note; to sort by.
--   condition: When the rule applies.
--   remedy: What to do about it.
--   source_file_id: The file that it is about: its path, and after '!' the path inside an archive.
--   pointer: JSON pointer, or line, in that file.
--   record_id: The record, where it was loaded.
--   task: The task whose example was refused.
--   turn_index: The turn that it is about; null: no single one.
--   detail: What was found.
select
    findings.corpus_id,
    findings.finding_index,
    records.release,
    records.split,
    records.standard_split,
    records.subset,
    findings.rule,
    findings.severity,
    case findings.severity
        when 'reject_file' then 1
        when 'reject_dialogue' then 2
        when 'reject_example' then 3
        when 'warn' then 4
        when 'note' then 5
    end as severity_rank,
    rules.condition,
    rules.remedy,
    findings.source_file_id,
    findings.pointer,
    findings.record_id,
    findings.task,
    findings.turn_index,
    findings.detail,
from meta.findings
left join meta.rules on rules.rule = findings.rule
left join main.records on records.record_id = findings.record_id
