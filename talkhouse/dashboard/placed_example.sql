select ${keys}
from main.examples
where corpus_id = $corpus and task = $task and release is not distinct from $release
    and split is not distinct from $split and example_index = $index
