select title, licence, languages, dialogue_count, turn_count, default_label_count, default_example_count
from bi.corpora order by corpus_id
