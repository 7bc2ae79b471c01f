select task, release, split, standard_split, example_count, dialogue_count, turn_count
from bi.split_publications where corpus_id = $corpus and is_default = $default order by all
