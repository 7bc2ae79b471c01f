-- Every context of the dialogues has its block in a response ranking file of their split, if there is one, and there is no other block.
-- severity: warn
-- rule: MA-07
with
blocks as (
    select
        split,
        candidate_set,
        native_id,
        count(*) as block_count,
    from mantis.ranking_blocks
    where native_id is not null
    group by split, candidate_set, native_id
),

files as (
    select distinct split, candidate_set
    from blocks
),

contexts as (
    select
        conversations.split,
        conversations.native_id,
        count(examples.example_index) as context_count,
    from mantis.conversations
    left join main.examples
        on examples.record_id = conversations.record_id
        and examples.corpus_id = 'mantis'
        and examples.task = 'response_ranking'
    group by conversations.split, conversations.native_id
),

expected as (
    select
        contexts.split,
        files.candidate_set,
        contexts.native_id,
        contexts.context_count,
    from contexts
    inner join files on files.split = contexts.split
)

select
    'mantis' as corpus_id,
    expected.split,
    expected.candidate_set,
    count(*) || ' dialogues of ' || expected.split || ' have more or fewer blocks in ' || expected.candidate_set
        || ' than contexts; the first is ' || arg_min(expected.native_id, expected.native_id) || ' with '
        || arg_min(coalesce(blocks.block_count, 0), expected.native_id) || ' blocks for '
        || arg_min(expected.context_count, expected.native_id) || ' contexts' as detail,
from expected
left join blocks
    on blocks.split = expected.split
    and blocks.candidate_set = expected.candidate_set
    and blocks.native_id = expected.native_id
where coalesce(blocks.block_count, 0) <> expected.context_count
group by expected.split, expected.candidate_set
