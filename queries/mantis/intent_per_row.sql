-- Each line of the response ranking files with the intents that the authors' code writes beside it, and with those that would be right.
-- grain: split, candidate_set, row_index
--   example_index: 0-based position of the line in response_ranking_10 or response_ranking_50.
--   row_index: 0-based line of the file.
--   reference_intent: Intents as the authors' code writes them, given the number of negatives of a context; it drifts by a line with every context. Null where the dialogue is unlabelled or the code would fail.
--   aligned_intent: Intents of the utterance that the same count points at when a context is taken for as many lines as it has.
--   context_intent: Intents of the utterance that the context ends with.
--   candidate_set: mantis_10 or mantis_50, by how many negatives a block has.
--   record_id: The block of the file.
with
intents as (
    select split, native_id, dialogue_id, turn_index, intents
    from mantis.utterance_intents
    where has_intent_labels
),

talks as (
    select
        split,
        native_id,
        map(list(turn_index order by turn_index), list(intents order by turn_index)) as intents_at,
    from intents
    group by split, native_id
),

blocks as (
    select
        blocks.*,
        talks.intents_at,
        ends.intents as context_intent,
    from mantis.ranking_blocks as blocks
    inner join main.candidates as gold
        on gold.record_id = blocks.record_id and gold.candidate_set = blocks.candidate_set and gold.position = 0
    left join talks on talks.split = blocks.split and talks.native_id = blocks.native_id
    left join intents as ends on ends.dialogue_id = gold.dialogue_id and ends.turn_index = gold.turn_index - 1
),

lines as (
    select
        *,
        unnest(range(row_count))::integer as position,
    from blocks
)

-- 0-based, the first context ends with utterance 2, and each further one is taken to end two utterances later.
select
    split,
    standard_split,
    first_example + position as example_index,
    dialogue_id,
    native_id,
    first_row + position as row_index,
    intents_at[
        2 + 2 * (greatest(first_row + position - run_row - 1, 0) // nullif(row_count - 1, 0))
    ] as reference_intent,
    intents_at[2 + 2 * ((first_row + position - run_row) // row_count)] as aligned_intent,
    context_intent,
    candidate_set,
    record_id,
from lines
