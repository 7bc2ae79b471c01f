-- Each block of a response ranking file: a context with its true response and the negatives drawn for it.
-- grain: candidate_set, split, block_index
--   block_index: 0-based number of the block in its file; those in quarantine are counted.
--   candidate_set: mantis_10 or mantis_50, by how many negatives a block has.
--   native_id: Key of the dialogue, from the lookup file; null where there is none.
--   dialogue_id: The dialogue that the context is of; null where its words are others, or the dialogues are not in the warehouse.
--   first_row: 0-based line of the file with which the block begins.
--   first_example: 0-based example of the split with which the block begins: the lines of accepted blocks before it.
--   run_row: 0-based line with which the run of lines of one key begins; null where there is no lookup file.
--   row_count: Lines of the block: the true response and its negatives.
--   context: Texts (main.texts) of the context's utterances, in order; null where it stands right before the response in the dialogue.
select
    split,
    standard_split,
    dialogue_id,
    native_id,
    record_id,
    subset as candidate_set,
    record_index as block_index,
    (extra ->> 'line')::integer as first_row,
    (extra ->> 'example')::integer as first_example,
    (extra ->> 'run')::integer as run_row,
    (extra ->> 'size')::integer as row_count,
    (extra -> 'own_texts')::varchar[] as context,
from main.records
where corpus_id = 'mantis' and subset in ('mantis_10', 'mantis_50')
