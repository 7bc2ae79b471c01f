-- A candidate list that marks right answers marks exactly one; of answers that were compared, none or several may be best.
-- severity: warn
-- scope: file
-- remedy: Look at the list in main.candidates; a metric that expects one right answer must leave it out.
select
    record_id,
    turn_index,
    candidate_set,
    count(distinct position) filter (where is_gold) as gold_count,
    candidate_set || ' has ' || count(distinct position) filter (where is_gold) || ' right answers' as detail,
from main.candidates
where candidate_set <> 'completion'
group by record_id, turn_index, candidate_set
having count(is_gold) > 0 and count(distinct position) filter (where is_gold) <> 1
