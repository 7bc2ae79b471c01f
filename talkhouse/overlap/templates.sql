-- What is said in more texts than two that quote each other would say it: the runs of tokens of templates.
create table run_texts as
select form_no, unnest(found) as run
from (select form_no, ${runs} as found from forms where tokens >= ${run});

create table run_counts as select run, count(*) as texts from run_texts group by run;

create table templates as select run from run_counts where texts > ${most};

-- Texts that have no other runs.
create table template_forms as
select form_no from run_texts
except
select form_no from run_texts anti join templates using (run);

create table rare_runs as
select form_no, run
from run_texts
semi join (select run from run_counts where texts between 2 and ${most}) as rare using (run);

drop table run_texts;

drop table run_counts;
