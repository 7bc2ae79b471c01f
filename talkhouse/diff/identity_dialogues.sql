with
published as (
    select
        dialogue_id,
        ${release} as release,
        subset,
        split,
        row_number() over (order by release, subset, split, source_file_id, record_index, record_id) as number,
    from ${side}.main.records
    where dialogue_id is not null and ${of_corpora} and ${of_records}
),

firsts as (select * from published qualify row_number() over (partition by dialogue_id order by number) = 1),

said as (
    select dialogue_id, hash(list(hash(role, text) order by turn_index)) as content, count(*) as turns
    from ${side}.main.turns
    where split_part(dialogue_id, ':', 1) in (${corpora}) and ${of_turns}
    group by dialogue_id
)

select
    dialogues.corpus_id as corpus,
    dialogues.dialogue_id as id,
    coalesce(said.content, 0) as content,
    coalesce(said.turns, 0) as size,
    firsts.release,
    firsts.subset,
    firsts.split,
    row_number() over (order by firsts.number, dialogues.dialogue_id) as number,
from ${side}.main.dialogues
left join said using (dialogue_id)
left join firsts using (dialogue_id)
where ${of_corpora} and ${of_dialogues}
