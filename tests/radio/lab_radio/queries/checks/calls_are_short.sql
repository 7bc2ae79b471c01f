-- No call is longer than a breath, 20 characters.
-- severity: warn
-- rule: RC-02
-- remedy: Nothing: it is meant.
select record_id, 'radio_calls' as corpus_id, 'a call of ' || len(text) || ' characters' as detail
from main.turns
inner join main.records using (dialogue_id)
where starts_with(dialogue_id, 'radio_calls:') and len(text) > 20
