select
    corpus_id, title, description, homepage, languages, is_sample,
    dialogue_count, record_count, turn_count, speaker_count, label_count, quarantined_count
from ${db}.bi.corpora
where list_contains($ids, corpus_id)
order by corpus_id
