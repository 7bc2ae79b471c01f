create or replace temp table gone_records as
select record_id from main.records where source_file_id in (from gone_files);

create or replace temp table gone_dialogues as
select distinct dialogue_id from main.records
where source_file_id in (from gone_files) and dialogue_id is not null;

create or replace temp table gone_speakers as
select speaker_id, min(source_file_id) as first, min(role) as least, max(role) as most
from main.participants inner join main.records using (dialogue_id)
where dialogue_id in (from gone_dialogues)
group by all;
