insert into main.labels by name
select distinct scheme, label from main.annotations
anti join main.labels using (scheme, label)
where label is not null and starts_with(record_id, ?)
