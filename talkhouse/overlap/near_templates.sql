-- Texts meet in what is no template's. Of shingles, the rarest that two texts share is in both prefixes, so that no
-- others are needed; of runs of tokens, which have no prefix of their own, all.
delete from prefixes where shingle in (select shingle from common where frequency > ${most});

insert into prefixes
select form_no, size, run, 1
from rare_runs
inner join (select distinct form_no, size from common) as sizes using (form_no);
