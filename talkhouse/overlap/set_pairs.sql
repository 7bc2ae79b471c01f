create or replace table set_pairs as
select mine.set_no, others.set_no as other_set_no, count(*) as shared
from set_runs as mine
inner join set_runs as others using (run)
where mine.set_no in (from asking) and mine.set_no % ${parts} = ${part}
group by mine.set_no, others.set_no;
