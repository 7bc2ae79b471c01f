-- Response ranking with 50 negatives: each line of the published files, a context and one of its candidate responses.
-- grain: split, example_index
-- task_category: text-ranking
--   example_index: 0-based position of the line among those of its file that are not in quarantine.
--   native_id: Key of the dialogue, from the lookup file; null where there is none.
--   turn_index: 0-based position of the true response in its dialogue; null where no dialogue in the warehouse has the context.
--   row_index: 0-based line of the file.
--   label: 1 for the true response, 0 for a negative.
--   context: The utterances before the response, in order, as the line has them.
--   candidate: The candidate response.
--   record_id: The block of the file: the lines of one context.
select
    split,
    standard_split,
    example_index,
    dialogue_id,
    native_id,
    turn_index,
    row_index,
    label,
    context,
    candidate,
    record_id,
    true as is_default,
from mantis.ranking_rows
where candidate_set = 'mantis_50'
