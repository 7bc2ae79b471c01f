select
    corpus_id, title, description, homepage, licence, licence_url, terms, languages, is_sample, made_from,
    dialogue_count, turn_count, record_count, label_count, default_label_count, default_example_count, finding_count,
from bi.corpora
order by title
