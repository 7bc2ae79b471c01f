create table set_pairs as
select mine.set_no, others.set_no as other_set_no, count(*) as shared
from set_runs as mine
inner join set_runs as others using (run)
where mine.set_no in (from asking)
group by mine.set_no, others.set_no;

create view set_lowest_met as select * rename (set_no as met_no) from set_lowest;
