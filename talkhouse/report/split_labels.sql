select task, release, split, label, any_value(label_meaning), count(*)
from bi.example_labels where corpus_id = $corpus and is_default = $default
group by task, release, split, label order by all
