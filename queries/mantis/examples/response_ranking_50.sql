-- Each line of the response ranking files with 50 negatives, in their order; those of blocks in quarantine are left out.
-- grain: release, split, example_index
with
blocks as (
    select
        blocks.split,
        blocks.first_example,
        blocks.row_count,
        blocks.record_id,
        blocks.dialogue_id,
        gold.turn_index,
    from mantis.ranking_blocks as blocks
    inner join main.candidates as gold
        on gold.record_id = blocks.record_id and gold.candidate_set = blocks.candidate_set and gold.position = 0
    where blocks.candidate_set = 'mantis_50'
    order by blocks.split, blocks.block_index
)

select
    null::varchar as release,
    split,
    first_example + unnest(range(row_count)) as example_index,
    record_id,
    dialogue_id,
    turn_index,
from blocks
