-- Each line of the response ranking files: a context, and one of its candidate responses.
-- grain: candidate_set, split, row_index
--   example_index: 0-based position of the line among those of its file that are not in quarantine.
--   native_id: Key of the dialogue, from the lookup file; null where there is none.
--   turn_index: 0-based position of the true response in its dialogue; null where no dialogue in the warehouse has the context.
--   row_index: 0-based line of the file.
--   label: 1 for the true response, 0 for a negative.
--   context: The utterances before the response, in order, as the line has them.
--   candidate: The candidate response.
--   candidate_set: mantis_10 or mantis_50, by how many negatives a block has.
--   record_id: The block of the file.
with
contexts as (
    -- Once for a block: its lines all have the same.
    select
        blocks.record_id,
        blocks.split,
        blocks.dialogue_id,
        blocks.native_id,
        blocks.candidate_set,
        'mantis' as corpus_id,
        list(turns.text order by turns.turn_index) as context,
    from mantis.ranking_blocks as blocks
    inner join main.candidates as gold
        on gold.dialogue_id = blocks.dialogue_id and gold.record_id = blocks.record_id and gold.position = 0
    inner join main.turns
        on turns.dialogue_id = blocks.dialogue_id
        and turns.turn_index between gold.turn_index - 11 and gold.turn_index - 1
    where blocks.context is null
    group by blocks.record_id, blocks.split, blocks.dialogue_id, blocks.native_id, blocks.candidate_set
),

own_contexts as (
    -- A context that does not stand right before its response in a dialogue is kept with its block.
    select
        pieces.record_id,
        pieces.split,
        pieces.candidate_set,
        'mantis' as corpus_id,
        list(texts.text order by pieces.position) as context,
    from (
        select
            record_id,
            split,
            candidate_set,
            unnest(context) as text_id,
            unnest(range(len(context))) as position,
        from mantis.ranking_blocks
        where context is not null
    ) as pieces
    inner join main.texts on texts.text_id = pieces.text_id
    group by pieces.record_id, pieces.split, pieces.candidate_set
),

places as (
    -- By its row number a text is read alone; by its id all texts would be unpacked for the lines of one dialogue.
    select rowid as place, text_id
    from main.texts
),

lines as (
    -- The long contexts are joined last, by a column of each table, so that no hash table ever holds one for every line.
    select
        blocks.split,
        blocks.standard_split,
        blocks.dialogue_id,
        blocks.native_id,
        blocks.record_id,
        blocks.candidate_set,
        blocks.first_row,
        blocks.first_example,
        candidates.turn_index,
        candidates.position,
        candidates.is_gold,
        contexts.context,
        texts.text as candidate,
    from mantis.ranking_blocks as blocks
    inner join main.candidates
        on candidates.dialogue_id = blocks.dialogue_id and candidates.record_id = blocks.record_id
    inner join places on places.text_id = candidates.text_id
    inner join main.texts on texts.rowid = places.place
    left join contexts
        on contexts.record_id = candidates.record_id
        and contexts.split = blocks.split
        and contexts.dialogue_id = blocks.dialogue_id
        and contexts.native_id = blocks.native_id
        and contexts.candidate_set = blocks.candidate_set
        and contexts.corpus_id = texts.corpus_id
    where blocks.context is null
    union all
    select
        blocks.split,
        blocks.standard_split,
        blocks.dialogue_id,
        blocks.native_id,
        blocks.record_id,
        blocks.candidate_set,
        blocks.first_row,
        blocks.first_example,
        candidates.turn_index,
        candidates.position,
        candidates.is_gold,
        own_contexts.context,
        texts.text as candidate,
    from mantis.ranking_blocks as blocks
    inner join main.candidates on candidates.record_id = blocks.record_id
    inner join main.texts on texts.text_id = candidates.text_id
    left join own_contexts
        on own_contexts.record_id = candidates.record_id
        and own_contexts.split = blocks.split
        and own_contexts.candidate_set = blocks.candidate_set
        and own_contexts.corpus_id = texts.corpus_id
    where blocks.context is not null
)

select
    split,
    standard_split,
    first_example + position as example_index,
    dialogue_id,
    native_id,
    turn_index,
    first_row + position as row_index,
    is_gold::integer as label,
    context,
    candidate,
    candidate_set,
    record_id,
from lines
