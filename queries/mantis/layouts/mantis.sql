-- One score a line, for each line of the published file; of several cells in a line the last is the score.
-- reads: lines
-- tasks: response_ranking_10, response_ranking_50
with
scores as (
    select line_index, string_split(line, chr(9))[-1] as score
    from lines
    where line <> ''
),

-- A row for each line of a block: to look a line up is much faster than to look for the block around it.
lines_of_blocks as (
    select
        blocks.split,
        blocks.first_row + place as line_index,
        blocks.first_example + place as example_index,
    from (
        select distinct blocks.split, blocks.record_id, blocks.first_row, blocks.first_example, blocks.row_count
        from mantis.ranking_blocks as blocks
        semi join keys on keys.record_id = blocks.record_id and keys.split = blocks.split
    ) as blocks
    cross join unnest(range(blocks.row_count)) as places(place)
)

select
    blocks.split,
    blocks.example_index,
    scores.score,
    'line ' || scores.line_index as key,
from scores
left join lines_of_blocks as blocks on blocks.line_index = scores.line_index
-- Lines of blocks that are in quarantine have no example; any other without one is more than the file has.
where blocks.line_index is not null
    or not exists (select 1 from meta.quarantine where subset in ('mantis_10', 'mantis_50'))
